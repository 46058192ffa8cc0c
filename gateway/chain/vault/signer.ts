/** The signer thread as whoever asks it sees it: questions over a MessagePort, one answer each, none waited for for ever. */
import { join } from 'node:path'
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads'
import type { FromThread, SignerData, ToSigner, VaultKeyPlace } from '../../../core/threads.ts'
import {
  SignerRefused, SignerUnavailable, type Authorisation, type Hex, type Signer, type SignerScope, type Unsigned,
} from './types.ts'

export type SignerQuestion =
  | { readonly id: number; readonly type: 'address' }
  | { readonly id: number; readonly type: 'bind'; readonly scope: SignerScope }
  | { readonly id: number; readonly type: 'authorise'; readonly authorisation: Authorisation }
  | { readonly id: number; readonly type: 'sign'; readonly transaction: Unsigned }
export type SignerAnswer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly refused: string }
  | { readonly id: number; readonly unavailable: string }

/** Longest wait for an answer, ms: longer than the signer thread waits for a remote one. */
const ANSWER_MS = 15_000
export const SIGNER_THREAD = join(import.meta.dirname, 'signer_thread.ts')

interface Waiting {
  resolve(result: unknown): void
  reject(error: Error): void
  readonly timer: NodeJS.Timeout
}
type Ask = SignerQuestion extends infer Q ? (Q extends { id: number } ? Omit<Q, 'id'> : never) : never

/** Asks the signer thread at the other end of the port. */
export function createSigner(port: MessagePort): Signer {
  const waiting = new Map<number, Waiting>()
  let next = 1
  let closed = false

  const settle = (id: number, how: (one: Waiting) => void): void => {
    const one = waiting.get(id)
    if (one === undefined) return
    waiting.delete(id)
    clearTimeout(one.timer)
    how(one)
  }
  port.on('message', (answer: SignerAnswer) => settle(answer.id, ({ resolve, reject }) => {
    if ('result' in answer) resolve(answer.result)
    else reject('refused' in answer ? new SignerRefused(answer.refused) : new SignerUnavailable(answer.unavailable))
  }))
  port.on('close', () => {
    closed = true
    for (const id of [...waiting.keys()]) settle(id, ({ reject }) => reject(new SignerUnavailable('the signer is gone')))
  })
  port.unref()

  function ask<T>(question: Ask): Promise<T> {
    if (closed) return Promise.reject(new SignerUnavailable('the signer is gone'))
    const id = next++
    return new Promise<T>((resolve, reject) => {
      const late = (): void => settle(id, ({ reject }) => reject(new SignerUnavailable('the signer does not answer')))
      waiting.set(id, { resolve: resolve as Waiting['resolve'], reject, timer: setTimeout(late, ANSWER_MS) })
      port.postMessage({ id, ...question } satisfies SignerQuestion)
    })
  }
  return {
    address: () => ask<Hex>({ type: 'address' }),
    bind: (scope) => ask<void>({ type: 'bind', scope }),
    authorise: (authorisation) => ask<Hex>({ type: 'authorise', authorisation }),
    sign: (transaction) => ask<{ raw: Hex; hash: Hex }>({ type: 'sign', transaction }),
    close: () => port.close(),
  }
}

export interface StartedSigner {
  readonly signer: Signer
  /** Ends the thread, and with it the key. */
  end(): Promise<void>
}

/** Starts a signer thread for this one alone. Throws when the key cannot be used. */
export async function startSigner(place: VaultKeyPlace): Promise<StartedSigner> {
  const { port1, port2 } = new MessageChannel()
  const data: SignerData = { place, port: port2 }
  const worker = new Worker(SIGNER_THREAD, { workerData: data, transferList: [port2], name: 'signer', env: {} })
  const end = async (): Promise<void> => {
    worker.postMessage({ type: 'stop' } satisfies ToSigner)
    await worker.terminate()
    port1.close()
  }
  const said = await new Promise<FromThread>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  if (said.type === 'fatal') {
    await end()
    throw new Error(said.message)
  }
  return { signer: createSigner(port1), end }
}
