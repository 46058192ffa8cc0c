/**
 * The sign-in thread: the one thread that owns the key of nonces, which of them are spent, and the limits of sign-in, so that a nonce is
 * good once and a limit exact however many gateway threads there are. Gateways ask over message ports (challenge.ts has the messages);
 * signatures are recovered in a pool of threads (wallet.ts), and those of contract wallets asked from a chain (contract.ts), while the
 * sign-in thread goes on answering.
 *
 * The text names the application as it is called when it is signed and when it is checked, and the wallet whose sub-account the signing one
 * is without having agreed: a change of either ends the sign-ins under way.
 *
 * It opens no session and makes no account: after its reply the gateway sends the command through its ring. Rows that a signature leads to
 * are budgeted here, per client network and per master. It keeps nothing across restarts (a challenge of before is NONCE_INVALID) and
 * logs no address, nonce, key or signature.
 */
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { embedsChain } from '../../core/config.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createOutbox } from '../../core/state/outbox.ts'
import { attachState } from '../../core/state/state.ts'
import { SIGN_IN, signInCounters } from '../../core/ring/counters.ts'
import { EXIT, type SignInData, type FromThread, type ToSignIn } from '../../core/threads.ts'
import { readAccount } from '../../core/view/accounts.ts'
import { Applications, type ApplicationView } from '../../core/view/applications.ts'
import { findMember } from '../../core/view/families.ts'
import {
  challengeText, createLimit, signatureDigits, walletSignature,
  type ChallengeReply, type ChallengeRequest, type ConsentReply, type ConsentRequest, type SignInReply, type SignInRequest, type Limit,
  type RefusalReply, type VerifyReply, type VerifyRequest,
} from './challenge.ts'
import { networkOf, siteOf } from '../limits/network.ts'
import { createChainClient } from '../chain/client.ts'
import { createContractCheck } from './contract.ts'
import { createContractFlags } from './contract_flags.ts'
import { createNewcomerLimit } from './newcomers.ts'
import { createNonceSeal, createSpentNonces, type Bond, type Nonce } from './nonces.ts'
import { verifySignature } from './verifier.ts'
import { NO_VERDICTS, REJECTIONS, type Rejection } from './rejection.ts'
import { createWalletPool, type Verdict, type WalletPool } from './wallet.ts'

/** sodium-native has no types. The check: canonical encoding, on the curve, in the prime-order group, not of small order. */
const sodium = createRequire(import.meta.url)('sodium-native') as { crypto_core_ed25519_is_valid_point(point: Uint8Array): boolean }

const HOUR_MS = 3_600_000
/** After this long some of a share of the spent nonces is given back, s. */
const SHARE_RETRY_S = 60

const { config, genesis: source, columns, gate, ports, counters: shared } = workerData as SignInData
const genesis = parseGenesis(source)
const state = attachState(genesis, columns, createOutbox(1))
const applications = new Applications(state, new Int32Array(gate))
/** Unix ms of the start, and from then on by a clock that is never set: a spent nonce must not become good again. */
const now = (): number => performance.timeOrigin + performance.now()
const seal = createNonceSeal(randomBytes(32), now, randomBytes)
const spent = createSpentNonces(config.challengeLimit, now)
const addressLimit = createLimit(config.signInPerAddress, now)
const networkLimit = createLimit(config.signInPerIp, now)
const accountLimit = createLimit(config.newAccountsPerIp, now, { windowMs: HOUR_MS })
const newcomerLimit = createNewcomerLimit(config.newAccountsPerMinute, now)
const masterLimit = createLimit(config.subAccountsPerMaster, now, { windowMs: HOUR_MS })
const counters = signInCounters(shared)
counters[SIGN_IN.spent_nonces_capacity] = config.challengeLimit
const chain = createChainClient(genesis.chainId, counters, now)
const contracts = createContractCheck(chain, config.contractChecks, config.chainTimeoutMs, counters)
/** Without a chain to ask, nobody is a contract. */
const asksChain = embedsChain(config) || config.chainRpcUrl !== ''
if (config.chainRpcUrl !== '') chain.move(config.chainRpcUrl)
const flags = createContractFlags(config.contractLoginFile, () => performance.now(), (reason) =>
  post({ type: 'log', level: 'error', message: 'contractLoginFile cannot be used; nobody can sign in', fields: { reason } }),
)

const post = (message: FromThread): void => parentPort!.postMessage(message)
const refuse = (id: number, refusal: RefusalReply['refusal'], details?: RefusalReply['details']): RefusalReply =>
  details === undefined ? { id, refusal } : { id, refusal, details }

const textOf = (entry: Nonce, application: ApplicationView): string =>
  challengeText(entry, { application: application.name, host: config.publicHost, chainId: genesis.chainId })

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
/** Hex digits of a compact signature (EIP-2098). */
const COMPACT_DIGITS = 128
/** Of a nonce that is not of this sign-in: another wallet's, key's or application's, of before a restart, expired, or nobody's. */
const NONCE_UNKNOWN = { reason: 'NONCE_UNKNOWN' }
const NOT_POSSESSED = { field: 'sessionSignature', reason: 'WRONG_SESSION_SIGNATURE' }
/** What each limit counts. */
const COUNTED = new Map<Limit, string>([
  [addressLimit, 'sign-ins of a wallet in a second'], [networkLimit, 'sign-ins from an address in a second'],
  [accountLimit, 'new accounts from an address in an hour'], [newcomerLimit, 'new accounts in a minute'],
  [masterLimit, 'sub-accounts of a master in an hour'],
])

function used(id: number, limit: Limit): RefusalReply {
  const message = `${REFUSALS.RATE_LIMIT_EXCEEDED.message}: ${limit.most} ${COUNTED.get(limit)!}`
  return { id, refusal: 'RATE_LIMIT_EXCEEDED', message, details: { retryAfter: limit.retryAfter(), limit: limit.most } }
}

/** The budgets that a new account draws on: its site's in an hour, and everybody's in a minute. */
function accountBudgets(ip: string): [Limit, string][] {
  const site = siteOf(networkOf(ip))
  return [[accountLimit, site], [newcomerLimit, site]]
}

/** What every request is checked for first: form of the address, budget of the client. `null`, or the refusal. */
function refusalOf({ id, address, ip }: SignInRequest): RefusalReply | null {
  if (!ADDRESS.test(address)) return refuse(id, 'VALIDATION_ERROR', { field: 'address' })
  return networkLimit.acquire(networkOf(ip)) ? null : used(id, networkLimit)
}

/** The application of a sign-in, or a refusal. */
function applicationOf({ id, clientId }: ChallengeRequest | VerifyRequest): ApplicationView | RefusalReply {
  const application = clientId === undefined || clientId === null ? applications.at(0) : applications.byClientId(clientId)
  if (application === undefined) return refuse(id, 'NOT_FOUND', { field: 'clientId' })
  return application.isActive ? application : refuse(id, 'APPLICATION_INACTIVE')
}

/** Whether `key` (64 lowercase hex digits) is a public key that only the holder of one private key can sign for. */
function validSessionKey(key: string): boolean {
  return /^[0-9a-f]{64}$/.test(key) && sodium.crypto_core_ed25519_is_valid_point(Buffer.from(key, 'hex'))
}

/**
 * What a sign-in of `address` is bound to; the rows of its account and of the master that the text names, -1: none. `null` while that
 * cannot be read. The text names a master only as long as the wallet has not agreed to it: anybody may ask for the text of any wallet, so
 * it never tells whose sub-account a wallet is that agreed.
 */
function signInBond(
  address: string, sessionPublicKey: string, { application }: ApplicationView,
): { bond: Bond; account: number; master: number } | null {
  const wallet = address.toLowerCase()
  const member = findMember(state, application, Buffer.from(wallet.slice(2), 'hex'))
  if (member === null) return null
  const { account } = member
  const master = member.consented ? -1 : member.master
  const masterAddress = master < 0 ? null : `0x${Buffer.from(readAccount(state, master).address).toString('hex')}`
  return { bond: { purpose: 'sign-in', address: wallet, sessionPublicKey, application, master: masterAddress }, account, master }
}

const consentBond = (address: string, sessionPublicKey: string, application: number, master: string): Bond =>
  ({ purpose: 'consent', address: address.toLowerCase(), sessionPublicKey, application, master: master.toLowerCase() })

/** A challenge tells nothing about the accounts of a consent: whether they are, and whose, is not looked at. */
function challenge(request: ChallengeRequest): ChallengeReply | RefusalReply {
  const { id, address, sessionPublicKey, subAccountOf } = request
  const refused = refusalOf(request)
  if (refused !== null) return refused
  const application = applicationOf(request)
  if ('refusal' in application) return application
  if (!validSessionKey(sessionPublicKey)) return refuse(id, 'VALIDATION_ERROR', { field: 'sessionPublicKey' })
  const consents = subAccountOf !== undefined && subAccountOf !== null
  if (consents && (!ADDRESS.test(subAccountOf) || subAccountOf.toLowerCase() === address.toLowerCase())) {
    return refuse(id, 'VALIDATION_ERROR', { field: 'subAccountOf' })
  }
  const bond = consents
    ? consentBond(address, sessionPublicKey, application.application, subAccountOf)
    : signInBond(address, sessionPublicKey, application)?.bond
  if (bond === undefined) return refuse(id, 'VERIFICATION_UNAVAILABLE')
  const entry = seal.issue(bond)
  return { id, nonce: entry.nonce, message: textOf(entry, application), expiresAt: Math.floor(entry.expiresAt / 1000) }
}

/** What became of a signature: `busy`, `failed` and `late` are no verdict. */
type Outcome = Exclude<Verdict, 'rejected'> | 'late' | Rejection

/**
 * Whether the wallet of this challenge signed its text, `message`, with `text`. The key is tried first, whatever the address is: most are
 * ordinary, and an account that delegates its code still has its key. The chain is asked only about wallets that may be contracts.
 */
async function outcomeOf({ address }: Nonce, message: string, text: string, network: string, pool: WalletPool): Promise<Outcome> {
  const digits = signatureDigits(text)
  if (digits === null) return 'SIGNATURE_TOO_LONG'
  const eligible = flags.eligible(address)
  if (eligible === null) {
    counters[SIGN_IN.flag_failures]!++
    return 'busy'
  }
  const signature = walletSignature(text)
  if (signature !== null) {
    const started = performance.now()
    const verdict = await pool.verify({ address, message, signature }, network)
    if (verdict === 'signed' || verdict === 'rejected') counters[SIGN_IN.recoveries]!++
    counters[SIGN_IN.recovery_seconds]! += (performance.now() - started) / 1000
    if (verdict !== 'rejected') return verdict
  }
  const ofKey: Rejection = signature !== null ? 'WRONG_SIGNER' : digits.length === COMPACT_DIGITS ? 'COMPACT_SIGNATURE' : 'SIGNATURE_FORM'
  if (!eligible || !asksChain) return ofKey
  const outcome = await contracts.verify({ address, message, signature: digits }, network)
  // Without code the address is a key's: then what is wrong with the signature of a key says more.
  return outcome === 'NO_CODE' && ofKey !== 'SIGNATURE_FORM' ? ofKey : outcome
}

/** Counts how a request ended, for the metrics. */
function count(request: SignInRequest, reply: SignInReply): void {
  if (!('refusal' in reply)) counters[request.kind === 'challenge' ? SIGN_IN.challenges : SIGN_IN.verifies_signed]!++
  else if (request.kind === 'challenge') return
  else if (reply.refusal === 'INVALID_SIGNATURE') counters[SIGN_IN.verifies_rejected]!++
  else if (reply.refusal === 'VERIFICATION_UNAVAILABLE') counters[SIGN_IN.verifies_unavailable]!++
  else counters[SIGN_IN.verifies_refused]!++
}

/** Whether the session key signed the text, when a signature of it was given. */
function possesses(key: string, sessionSignature: string | undefined, message: string): boolean {
  if (sessionSignature === undefined || sessionSignature === null) return true
  return verifySignature(Buffer.from(sessionSignature, 'hex'), Buffer.from(message, 'utf8'), Buffer.from(key, 'hex'))
}

/** The refusal of a signature, with its reason for the support of wallets. */
function rejection(id: number, outcome: Outcome): RefusalReply {
  if (outcome === 'late') {
    return { id, refusal: 'VERIFICATION_UNAVAILABLE', message: NO_VERDICTS.CONTRACT_TIMEOUT, details: { reason: 'CONTRACT_TIMEOUT' } }
  }
  if (outcome === 'busy' || outcome === 'failed' || outcome === 'signed') return refuse(id, 'VERIFICATION_UNAVAILABLE')
  const message = `${REFUSALS.INVALID_SIGNATURE.message}: ${REJECTIONS[outcome]}`
  return { id, refusal: 'INVALID_SIGNATURE', message, details: { reason: outcome } }
}

/**
 * Whether the wallet of `entry` signed its text: `null`, and the nonce is spent, or why not, and the nonce is as it was. `budgets` has the
 * budgets, with their keys, that a signature draws on. From the first line to the taking of the nonce nothing awaits.
 */
async function signatureRefusal(
  { id, signature, ip }: VerifyRequest | ConsentRequest, entry: Nonce, message: string, budgets: readonly [Limit, string][],
  pool: WalletPool,
): Promise<RefusalReply | null> {
  const network = networkOf(ip)
  const over = (): RefusalReply | null => {
    const limit = budgets.find(([each, key]) => each.isUsedUp(key))?.[0]
    return limit === undefined ? null : used(id, limit)
  }
  const early = over()
  if (early !== null) return early
  const taking = spent.take(entry.nonce, entry.address, network)
  if (taking === 'spent') return refuse(id, 'NONCE_INVALID', { reason: 'NONCE_SPENT' })
  if (taking === 'share') return refuse(id, 'RATE_LIMIT_EXCEEDED', { retryAfter: SHARE_RETRY_S })
  if (taking === 'full') return refuse(id, 'VERIFICATION_UNAVAILABLE')
  const outcome = await outcomeOf(entry, message, signature, network, pool)
  if (outcome === 'failed' && !stopping) post({ type: 'log', level: 'error', message: 'a wallet thread failed' })
  // Others of the same wallet may have drawn meanwhile.
  const usedUp = outcome === 'signed' ? over() : null
  if (outcome !== 'signed' || usedUp !== null) {
    spent.giveBack(entry.nonce)
    return usedUp ?? rejection(id, outcome)
  }
  for (const [limit, key] of budgets) limit.acquire(key)
  spent.spend(entry.nonce, entry.address, network)
  return null
}

async function verify(request: VerifyRequest, pool: WalletPool): Promise<VerifyReply | RefusalReply> {
  const { id, address, nonce, sessionPublicKey, chainId, sessionSignature } = request
  const refused = refusalOf(request)
  if (refused !== null) return refused
  const application = applicationOf(request)
  if ('refusal' in application) return application
  if (chainId !== undefined && chainId !== null && String(chainId) !== String(genesis.chainId)) {
    return refuse(id, 'VALIDATION_ERROR', { field: 'chainId' })
  }
  const found = signInBond(address, sessionPublicKey, application)
  if (found === null) return refuse(id, 'VERIFICATION_UNAVAILABLE')
  const { bond, account, master } = found
  const entry = seal.open(nonce, bond)
  if (entry === null) return refuse(id, 'NONCE_INVALID', NONCE_UNKNOWN)
  const message = textOf(entry, application)
  if (!possesses(sessionPublicKey, sessionSignature, message)) return refuse(id, 'INVALID_SIGNATURE', NOT_POSSESSED)
  const budgets: [Limit, string][] = [[addressLimit, bond.address]]
  if (request.delegated !== true && account < 0) budgets.push(...accountBudgets(request.ip))
  return (await signatureRefusal(request, entry, message, budgets, pool)) ?? { id, application: application.application, master }
}

async function consent(request: ConsentRequest, pool: WalletPool): Promise<ConsentReply | RefusalReply> {
  const { id, address, nonce, sessionPublicKey, master, application: index } = request
  const refused = refusalOf(request)
  if (refused !== null) return refused
  const application = applications.at(index)
  const entry = seal.open(nonce, consentBond(address, sessionPublicKey, index, master))
  if (application === undefined || entry === null) return refuse(id, 'NONCE_INVALID', NONCE_UNKNOWN)
  const budgets: [Limit, string][] = [[addressLimit, entry.address]]
  const member = findMember(state, index, Buffer.from(entry.address.slice(2), 'hex'))
  if (member === null) return refuse(id, 'VERIFICATION_UNAVAILABLE')
  if (member.account < 0) {
    budgets.push(...accountBudgets(request.ip), [masterLimit, `${index} ${entry.master}`])
  }
  return (await signatureRefusal(request, entry, textOf(entry, application), budgets, pool)) ?? { id, consented: true }
}

function replyTo(request: SignInRequest, pool: WalletPool): SignInReply | Promise<SignInReply> {
  if (request.kind === 'challenge') return challenge(request)
  return request.kind === 'verify' ? verify(request, pool) : consent(request, pool)
}

async function answer(port: MessagePort, request: SignInRequest, pool: WalletPool): Promise<void> {
  let reply: SignInReply
  try {
    reply = await replyTo(request, pool)
  } catch (error) {
    post({ type: 'log', level: 'error', message: 'sign-in failed', fields: { error: (error as Error).name } })
    reply = refuse(request.id, 'INTERNAL')
  }
  count(request, reply)
  counters[SIGN_IN.spent_nonces] = spent.size
  port.postMessage(reply)
}

let stopping = false
const underWay = new Set<Promise<void>>()

function serve(port: MessagePort, request: SignInRequest, pool: WalletPool): void {
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
  post({ type: 'stopped' })
  parentPort!.close()
}

const pool = await createWalletPool(config.walletThreads, config.walletQueue)
parentPort!.on('message', (message: ToSignIn) => {
  if (message.type === 'stop') void stop(pool)
  else if (message.type === 'chain') chain.move(message.url)
})
for (const port of ports) port.on('message', (request: SignInRequest) => serve(port, request, pool))
// Later a file that is missing or wrong refuses the sign-ins it decides; at a start it is a slip of whoever named it.
const fault = flags.fault()
if (fault === null) post({ type: 'ready' })
else post({ type: 'fatal', code: EXIT.CONFIG, message: `--contract-login-file ${config.contractLoginFile} cannot be used: ${fault}` })
