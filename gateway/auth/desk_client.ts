/** The gateway's side of the sign-in desk: numbered questions over a message port, each with a deadline, their number bounded. */
import type { MessagePort } from 'node:worker_threads'
import type {
  ChallengeReply, ChallengeRequest, ConsentReply, ConsentRequest, DeskReply, DeskRequest, RefusalReply, VerifyReply, VerifyRequest,
} from './challenge.ts'

/** Questions one gateway has open at most; more are refused as VERIFICATION_UNAVAILABLE. */
const OPEN_MAX = 4096
const DEADLINE_MS = 30_000
const SWEEP_MS = 1000

interface Question {
  readonly done: (reply: DeskReply) => void
  readonly deadline: number
}

export interface Desk {
  readonly port: MessagePort
  readonly open: Map<number, Question>
  readonly timer: NodeJS.Timeout
  next: number
}

export function createDesk(port: MessagePort): Desk {
  const open = new Map<number, Question>()
  const desk: Desk = { port, open, next: 1, timer: setInterval(() => sweep(desk), SWEEP_MS) }
  port.on('message', (reply: DeskReply) => {
    const question = open.get(reply.id)
    open.delete(reply.id)
    question?.done(reply)
  })
  return desk
}

export function closeDesk(desk: Desk): void {
  clearInterval(desk.timer)
  desk.port.close()
}

const unavailable = (id: number): RefusalReply => ({ id, refusal: 'VERIFICATION_UNAVAILABLE' })

function sweep(desk: Desk): void {
  const now = performance.now()
  for (const [id, question] of desk.open) {
    // The map is in order of asking and every question has the same time.
    if (question.deadline > now) return
    desk.open.delete(id)
    question.done(unavailable(id))
  }
}

function ask(desk: Desk, question: (id: number) => DeskRequest, done: (reply: DeskReply) => void): void {
  const id = desk.next++
  if (desk.open.size >= OPEN_MAX) return done(unavailable(id))
  desk.open.set(id, { done, deadline: performance.now() + DEADLINE_MS })
  desk.port.postMessage(question(id))
}

type Without<T> = Omit<T, 'id' | 'kind'>

export function askChallenge(desk: Desk, request: Without<ChallengeRequest>, done: (reply: ChallengeReply | RefusalReply) => void): void {
  ask(desk, (id) => ({ ...request, id, kind: 'challenge' }), (reply) => done(reply as ChallengeReply | RefusalReply))
}

export function askVerify(desk: Desk, request: Without<VerifyRequest>, done: (reply: VerifyReply | RefusalReply) => void): void {
  ask(desk, (id) => ({ ...request, id, kind: 'verify' }), (reply) => done(reply as VerifyReply | RefusalReply))
}

export function askConsent(desk: Desk, request: Without<ConsentRequest>, done: (reply: ConsentReply | RefusalReply) => void): void {
  ask(desk, (id) => ({ ...request, id, kind: 'consent' }), (reply) => done(reply as ConsentReply | RefusalReply))
}
