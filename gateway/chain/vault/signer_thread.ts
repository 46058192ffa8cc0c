/**
 * The signer thread: alone has the key of the vault's operator, or asks the remote signer that has it. It signs what policy.ts lets
 * through, in the scope that it was told first; the key is in no message, error or log.
 *
 * workerData is SignerData (core/threads.ts). Whoever has a port asks: {@link SignerQuestion}, answered by {@link SignerAnswer}.
 */
import { isDeepStrictEqual } from 'node:util'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { EXIT, type FromThread, type SignerData, type ToSigner, type VaultKeyPlace } from '../../../core/threads.ts'
import { ChainUnavailable } from '../client.ts'
import { KeyError, readVaultKey } from './key.ts'
import { createKeyHolder, type KeyHolder } from './key_holder.ts'
import { flawOfAuthorisation, flawOfScope, flawOfTransaction } from './policy.ts'
import { createRemoteSigner } from './remote_signer.ts'
import type { SignerAnswer, SignerQuestion } from './signer.ts'
import { SignerRefused, type SignerScope } from './types.ts'

/** Longest answer of a remote signer, ms. */
const REMOTE_MS = 10_000

const tell = (message: FromThread): void => parentPort!.postMessage(message)
const holderOf = (place: VaultKeyPlace): KeyHolder =>
  place.kind === 'remote' ? createRemoteSigner(place.url, REMOTE_MS) : createKeyHolder(readVaultKey(place))

let scope: SignerScope | null = null

/** The scope of all that is signed: the first one for good. */
function bind(asked: SignerScope): void {
  const flaw = flawOfScope(asked)
  if (flaw !== null) throw new SignerRefused(flaw)
  if (scope !== null && !isDeepStrictEqual(scope, asked)) throw new SignerRefused('it has another scope already')
  scope = asked
}

async function answer(holder: KeyHolder, question: SignerQuestion): Promise<unknown> {
  if (question.type === 'address') return holder.address()
  if (question.type === 'bind') return bind(question.scope)
  if (scope === null) throw new SignerRefused('it has no scope yet')
  if (question.type === 'authorise') {
    const flaw = flawOfAuthorisation(scope, question.authorisation)
    if (flaw !== null) throw new SignerRefused(flaw)
    return holder.authorise(scope.hub, question.authorisation)
  }
  if (question.type !== 'sign') throw new SignerRefused('that is no question')
  const flaw = flawOfTransaction(scope, await holder.address(), question.transaction)
  if (flaw !== null) throw new SignerRefused(flaw)
  return holder.sign(question.transaction)
}

function serve(port: MessagePort, holder: KeyHolder): void {
  port.on('message', (question: SignerQuestion) => {
    const { id } = question
    answer(holder, question).then(
      (result) => port.postMessage({ id, result } satisfies SignerAnswer),
      (error: Error) => port.postMessage(failureOf(id, error)),
    )
  })
}

/** Only what is said here on purpose; an error of a library may say anything. */
function failureOf(id: number, error: Error): SignerAnswer {
  if (error instanceof SignerRefused) return { id, refused: error.message }
  return { id, unavailable: error instanceof ChainUnavailable ? error.message : 'the signer failed' }
}

const { place, port } = workerData as SignerData
try {
  const holder = holderOf(place)
  if (port !== undefined) serve(port, holder)
  parentPort!.on('message', (message: ToSigner) => {
    if (message.type === 'port') serve(message.port, holder)
    if (message.type !== 'stop' && message.type !== 'abort') return
    tell({ type: 'stopped' })
    process.exit()
  })
  tell({ type: 'ready' })
} catch (error) {
  if (!(error instanceof KeyError)) throw new Error('the signer could not begin')
  tell({ type: 'fatal', code: EXIT.CONFIG, message: error.message })
}
