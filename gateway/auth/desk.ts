/**
 * The sign-in desk: the one thread that owns nonces and sign-in limits, so that a nonce is good once and a limit exact however
 * many gateway threads there are. Gateways ask over message ports (challenge.ts has the messages); signatures are recovered in
 * a pool of threads (wallet.ts), and those of contract wallets asked from a chain (contract.ts), while the desk goes on answering.
 *
 * The text names the application as it is called when it is signed and when it is checked: a change of name ends the sign-ins under way.
 *
 * It opens no session: after a `VerifyReply` the gateway sends OPEN_SESSION through its ring. It keeps nothing across restarts
 * (a challenge of before is NONCE_INVALID) and logs no address, nonce, key or signature.
 */
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { embedsChain } from '../../core/config.ts'
import { parseGenesis } from '../../core/engine/genesis.ts'
import { createOutbox } from '../../core/engine/outbox.ts'
import { attachState } from '../../core/engine/state.ts'
import { DESK, deskCounters } from '../../core/ring/counters.ts'
import type { DeskData, FromThread, ToDesk } from '../../core/threads.ts'
import { Applications, type ApplicationView } from '../../core/view/applications.ts'
import {
  challengeText, createLimit, createNonceStore, networkOf, signatureDigits, walletSignature,
  type ChallengeReply, type ChallengeRequest, type DeskReply, type DeskRequest, type Nonce, type RefusalReply, type VerifyReply,
  type VerifyRequest,
} from './challenge.ts'
import { createChainClient } from '../chain/client.ts'
import { createContractCheck } from './contract.ts'
import { createContractFlags } from './contract_flags.ts'
import { createWalletPool, type Verdict, type WalletPool } from './wallet.ts'

/** sodium-native has no types. The check: canonical encoding, on the curve, in the prime-order group, not of small order. */
const sodium = createRequire(import.meta.url)('sodium-native') as { crypto_core_ed25519_is_valid_point(point: Uint8Array): boolean }

const { config, genesis: source, columns, gate, ports, counters: shared } = workerData as DeskData
const genesis = parseGenesis(source)
const applications = new Applications(attachState(genesis, columns, createOutbox(1)), new Int32Array(gate))
const now = (): number => Date.now()
const nonces = createNonceStore(config.challengeLimit, now, () => randomBytes(32).toString('hex'))
const addressLimit = createLimit(config.signInPerAddress, now)
const networkLimit = createLimit(config.signInPerIp, now)
const counters = deskCounters(shared)
const chain = createChainClient(genesis.chainId, counters, now)
const contracts = createContractCheck(chain, config.contractChecks, config.chainTimeoutMs, counters)
/** Without a chain to ask, nobody is a contract. */
const asksChain = embedsChain(config) || config.chainRpcUrl !== ''
if (config.chainRpcUrl !== '') chain.move(config.chainRpcUrl)
const flags = createContractFlags(config.contractLoginFile, () => performance.now(), (reason) =>
  tell({ type: 'log', level: 'error', message: 'contractLoginFile cannot be used; nobody can sign in', fields: { reason } }),
)

const tell = (message: FromThread): void => parentPort!.postMessage(message)
const refuse = (id: number, refusal: RefusalReply['refusal'], details?: RefusalReply['details']): RefusalReply =>
  details === undefined ? { id, refusal } : { id, refusal, details }

const textOf = (entry: Nonce, application: ApplicationView): string =>
  challengeText(entry, { application: application.name, host: config.publicHost, chainId: genesis.chainId })

/** What both requests are checked for first: form of the address, limits, application. The application, or a refusal. */
function admit(request: DeskRequest): ApplicationView | RefusalReply {
  const { id } = request
  if (!/^0x[0-9a-fA-F]{40}$/.test(request.address)) return refuse(id, 'VALIDATION_ERROR', { field: 'address' })
  // The network first: what it is refused does not draw on the budget of a wallet it only names.
  if (!networkLimit.draw(networkOf(request.ip)) || !addressLimit.draw(request.address.toLowerCase())) {
    return refuse(id, 'RATE_LIMIT_EXCEEDED', { retryAfter: 1 })
  }
  const { clientId } = request
  const application = clientId === undefined || clientId === null ? applications.at(0) : applications.byClientId(clientId)
  if (application === undefined) return refuse(id, 'NOT_FOUND', { field: 'clientId' })
  return application.isActive ? application : refuse(id, 'APPLICATION_INACTIVE')
}

/** Whether `key` (64 lowercase hex digits) is a public key that only the holder of one private key can sign for. */
function validSessionKey(key: string): boolean {
  return /^[0-9a-f]{64}$/.test(key) && sodium.crypto_core_ed25519_is_valid_point(Buffer.from(key, 'hex'))
}

function challenge(request: ChallengeRequest): ChallengeReply | RefusalReply {
  const application = admit(request)
  if ('refusal' in application) return application
  if (!validSessionKey(request.sessionPublicKey)) return refuse(request.id, 'VALIDATION_ERROR', { field: 'sessionPublicKey' })
  const entry = nonces.issue(request.address, request.sessionPublicKey, application.application)
  if (entry === null) return refuse(request.id, 'VERIFICATION_UNAVAILABLE')
  return { id: request.id, nonce: entry.nonce, message: textOf(entry, application), expiresAt: Math.floor(entry.expiresAt / 1000) }
}

/**
 * Whether the wallet of this challenge signed its text, `message`, with `text`. The key is tried first, whatever the address is: most are
 * ordinary, and an account that delegates its code still has its key. The chain is asked only about wallets that may be contracts.
 */
async function verdictOn(entry: Nonce, message: string, text: string, pool: WalletPool): Promise<Verdict> {
  const digits = signatureDigits(text)
  if (digits === null) return 'rejected'
  const { address } = entry
  const eligible = flags.eligible(address)
  if (eligible === null) {
    counters[DESK.flag_failures]!++
    return 'busy'
  }
  const signature = walletSignature(text)
  if (signature !== null) {
    const started = performance.now()
    const verdict = await pool.verify({ address, message, signature })
    if (verdict === 'signed' || verdict === 'rejected') counters[DESK.recoveries]!++
    counters[DESK.recovery_seconds]! += (performance.now() - started) / 1000
    if (verdict !== 'rejected') return verdict
  }
  return eligible && asksChain ? contracts.verify({ address, message, signature: digits }) : 'rejected'
}

/** Counts how a request ended, for the metrics. */
function count(request: DeskRequest, reply: DeskReply): void {
  if (!('refusal' in reply)) counters[request.kind === 'challenge' ? DESK.challenges : DESK.verifies_signed]!++
  else if (request.kind === 'challenge') return
  else if (reply.refusal === 'INVALID_SIGNATURE') counters[DESK.verifies_rejected]!++
  else if (reply.refusal === 'VERIFICATION_UNAVAILABLE') counters[DESK.verifies_unavailable]!++
  else counters[DESK.verifies_refused]!++
}

async function verify(request: VerifyRequest, pool: WalletPool): Promise<VerifyReply | RefusalReply> {
  const { id } = request
  const application = admit(request)
  if ('refusal' in application) return application
  const { chainId } = request
  if (chainId !== undefined && chainId !== null && String(chainId) !== String(genesis.chainId)) {
    return refuse(id, 'VALIDATION_ERROR', { field: 'chainId' })
  }
  // From here on the nonce is ours: nothing may await before it is taken.
  const entry = nonces.take(request.nonce, request.address, request.sessionPublicKey, application.application)
  if (entry === null) return refuse(id, 'NONCE_INVALID')
  const verdict = await verdictOn(entry, textOf(entry, application), request.signature, pool)
  if (verdict === 'busy' || verdict === 'failed') {
    nonces.giveBack(entry.nonce)
    if (verdict === 'failed' && !stopping) tell({ type: 'log', level: 'error', message: 'a wallet thread failed' })
    return refuse(id, 'VERIFICATION_UNAVAILABLE')
  }
  nonces.consume(entry.nonce)
  return verdict === 'signed' ? { id, application: application.application } : refuse(id, 'INVALID_SIGNATURE')
}

async function answer(port: MessagePort, request: DeskRequest, pool: WalletPool): Promise<void> {
  let reply: DeskReply
  try {
    reply = request.kind === 'challenge' ? challenge(request) : await verify(request, pool)
  } catch (error) {
    tell({ type: 'log', level: 'error', message: 'sign-in failed', fields: { error: (error as Error).name } })
    reply = refuse(request.id, 'INTERNAL')
  }
  count(request, reply)
  port.postMessage(reply)
}

let stopping = false
const underWay = new Set<Promise<void>>()

function serve(port: MessagePort, request: DeskRequest, pool: WalletPool): void {
  const answered = answer(port, request, pool)
  underWay.add(answered)
  void answered.finally(() => underWay.delete(answered))
}

async function stop(pool: WalletPool): Promise<void> {
  if (stopping) return
  stopping = true
  // What is under way answers 503; the ports close after those answers are posted.
  contracts.close()
  await pool.destroy()
  await Promise.allSettled(underWay)
  for (const port of ports) port.close()
  tell({ type: 'stopped' })
  parentPort!.close()
}

const pool = await createWalletPool(config.walletThreads, config.walletQueue)
parentPort!.on('message', (message: ToDesk) => {
  if (message.type === 'stop') void stop(pool)
  else if (message.type === 'chain') chain.move(message.url)
})
for (const port of ports) port.on('message', (request: DeskRequest) => serve(port, request, pool))
tell({ type: 'ready' })
