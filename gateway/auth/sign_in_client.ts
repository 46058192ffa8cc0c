/** The gateway's side of the sign-in thread: numbered questions over a message port, each with a deadline, their number bounded. */
import type { MessagePort } from 'node:worker_threads'
import type {
  ChallengeReply, ChallengeRequest, ConsentReply, ConsentRequest, SignInReply, SignInRequest, RefusalReply, VerifyReply, VerifyRequest,
} from './challenge.ts'
import type { Faulted, Faults } from '../faults.ts'

/** Questions one gateway has open at most; more are refused as VERIFICATION_UNAVAILABLE. */
const OPEN_MAX = 4096
const DEADLINE_MS = 30_000
const SWEEP_MS = 1000

interface Question {
  readonly done: (reply: SignInReply) => void
  readonly deadline: number
  /** Which request asks. */
  readonly request: Faulted | null
}

export interface SignInClient {
  readonly port: MessagePort
  readonly open: Map<number, Question>
  readonly timer: NodeJS.Timeout
  readonly faults: Faults
  next: number
}

export function createSignInClient(port: MessagePort, faults: Faults): SignInClient {
  const open = new Map<number, Question>()
  const signIn: SignInClient = { port, open, faults, next: 1, timer: setInterval(() => sweep(signIn), SWEEP_MS) }
  port.on('message', (reply: SignInReply) => {
    const question = open.get(reply.id)
    open.delete(reply.id)
    if (question !== undefined) faults.guard(question.request, () => question.done(reply))
  })
  return signIn
}

export function closeSignInClient(signIn: SignInClient): void {
  clearInterval(signIn.timer)
  signIn.port.close()
}

const unavailable = (id: number): RefusalReply => ({ id, refusal: 'VERIFICATION_UNAVAILABLE' })

function sweep(signIn: SignInClient): void {
  const now = performance.now()
  for (const [id, question] of signIn.open) {
    // The map is in order of asking and every question has the same time.
    if (question.deadline > now) return
    signIn.open.delete(id)
    signIn.faults.guard(question.request, () => question.done(unavailable(id)))
  }
}

function ask(signIn: SignInClient, question: (id: number) => SignInRequest, done: (reply: SignInReply) => void): void {
  const id = signIn.next++
  if (signIn.open.size >= OPEN_MAX) return done(unavailable(id))
  signIn.open.set(id, { done, deadline: performance.now() + DEADLINE_MS, request: signIn.faults.current })
  signIn.port.postMessage(question(id))
}

type Without<T> = Omit<T, 'id' | 'kind'>

export function askChallenge(
  signIn: SignInClient, request: Without<ChallengeRequest>, done: (reply: ChallengeReply | RefusalReply) => void,
): void {
  ask(signIn, (id) => ({ ...request, id, kind: 'challenge' }), (reply) => done(reply as ChallengeReply | RefusalReply))
}

export function askVerify(signIn: SignInClient, request: Without<VerifyRequest>, done: (reply: VerifyReply | RefusalReply) => void): void {
  ask(signIn, (id) => ({ ...request, id, kind: 'verify' }), (reply) => done(reply as VerifyReply | RefusalReply))
}

export function askConsent(
  signIn: SignInClient, request: Without<ConsentRequest>, done: (reply: ConsentReply | RefusalReply) => void,
): void {
  ask(signIn, (id) => ({ ...request, id, kind: 'consent' }), (reply) => done(reply as ConsentReply | RefusalReply))
}
