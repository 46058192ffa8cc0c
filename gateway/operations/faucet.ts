/** The testnet faucet (specification, Faucet). */
import Type, { type Static } from 'typebox'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { MINT_ANSWER } from '../../core/layout/answers.ts'
import { FAUCET_WINDOW_MS, hasMinted, nextAvailableAt, recentRequests, type FaucetRequest } from '../../core/programs/faucet.ts'
import { FAUCET_LIMIT_MAX } from '../../core/state/genesis.ts'
import { readFaucet } from '../../core/view/accounts.ts'
import { faucetTxHash } from '../../core/view/vault.ts'
import { encodeMint } from '../bridge/encode.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { amountText } from './amounts.ts'
import { Nullable, operation, rfc3339, submit, Timestamp, pendingRequest } from './operation.ts'
import * as sample from './example_values.ts'
import { COMMAND, READ } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'
import { assetOf } from './lookup.ts'

const Minted = record(
  'FaucetMint', 'Test funds of one asset.',
  Type.Object(
    {
      assetId: fields.assetId, symbol: fields.symbol, amount: fields.amount,
      txHash: field(
        Nullable(Type.String()), 'Transaction that minted it to the vault on the settlement chain; null while it waits for one, and '
          + 'when it is long ago.',
      ),
    },
  ),
)
type Minted = Static<typeof Minted>
const Request = Type.Object(
  { requestedAt: field(Timestamp, 'When it was asked for.'), minted: field(Type.Array(Minted), 'What was credited.') },
)

const RECENT = 5

/** What one request minted: of all assets, those with a faucet amount that had room. */
function mintedOf(gateway: Gateway, request: Pick<FaucetRequest, 'asset' | 'sequence' | 'requestedAt'>): Minted[] {
  return gateway.genesis.assets
    .filter((each) => each.faucetAtoms > 0n && hasMinted(gateway.state, request, each.index))
    .map((each) => ({
      assetId: each.id, symbol: each.symbol, amount: amountText(each, each.faucetAtoms),
      txHash: faucetTxHash(gateway.state, each.index, request.requestedAt),
    }))
}

/** Requests left in the 24 hours before `now`. */
function remaining(gateway: Gateway, faucet: Float64Array, now: number): number {
  const used = recentRequests(faucet, FAUCET_LIMIT_MAX).filter((request) => request.requestedAt + FAUCET_WINDOW_MS > now).length
  return Math.max(0, gateway.genesis.faucetDailyLimit - used)
}

/** Absent when nothing is in the window or the faucet is off. */
const availability = (at: number): { nextAvailableAt?: string } => (at > 0 && Number.isFinite(at) ? { nextAvailableAt: rfc3339(at) } : {})

const exampleMinted = { assetId: sample.USDC, symbol: 'USDC', amount: '10000', txHash: null }

export const GetFaucetInfo = operation({
  service: 'FaucetService', method: 'GET', path: '/api/v1/faucet/info',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Faucet allowance',
  description: 'How many requests for test funds are left in the last 24 hours, and the newest five. Per wallet and application.',
  answer: 'The allowance.',
  refusals: READ,
  output: Type.Object({
    remainingRequests24h: field(Type.Integer(), 'Requests left now.'),
    dailyLimit: field(Type.Integer(), 'Requests in any 24 hours.'),
    nextAvailableAt: Type.Optional(
      field(Timestamp, 'When the next request is sure to be granted; absent when none is counted or the faucet is off.'),
    ),
    recentRequests: field(Type.Array(Request), 'The five newest requests, newest first.'),
  }),
  example: {
    input: {},
    output: {
      remainingRequests24h: 4, dailyLimit: 5, nextAvailableAt: sample.MOMENT, recentRequests: [
        { requestedAt: sample.MOMENT, minted: [exampleMinted] },
      ],
    },
  },
  run: (gateway, call) => {
    const faucet = readFaucet(gateway.state, gateway.gate, call.account)
    if (faucet === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
    const now = gateway.time()
    call.answer({
      remainingRequests24h: remaining(gateway, faucet, now),
      dailyLimit: gateway.genesis.faucetDailyLimit,
      ...availability(nextAvailableAt(gateway.genesis, faucet, now)),
      recentRequests: recentRequests(faucet, RECENT).map((request) => ({
        requestedAt: rfc3339(request.requestedAt),
        minted: mintedOf(gateway, request),
      })),
    })
  },
})

export const Mint = operation({
  service: 'FaucetService', method: 'POST', path: '/api/v1/faucet/mint',
  access: 'session', agent: 'no', maintenance: 'blocked', rate: 'none',
  summary: 'Take test funds',
  description: 'Credits test funds of one asset, or of every asset the faucet has and may still mint; `minted` says which. Nothing left '
    + 'today is 429 with the time to wait; nothing left for ever is 503.',
  answer: 'What was credited.',
  refusals: ['NOT_FOUND', 'FAUCET_ASSET', 'FAUCET_LIMIT', ...COMMAND],
  body: Type.Object({ assetId: Type.Optional(fields.assetId) }),
  bodyRule: 'optional',
  output: Type.Object({
    requestedAt: field(Timestamp, 'When it was asked for.'),
    minted: field(Type.Array(Minted), 'What was credited.'),
    remainingRequests24h: field(Type.Integer(), 'Requests left now.'),
    nextAvailableAt: Type.Optional(
      field(Timestamp, 'When the next request is sure to be granted; absent when none is counted or the faucet is off.'),
    ),
  }),
  example: {
    input: { assetId: sample.USDC },
    output: { requestedAt: sample.MOMENT, minted: [exampleMinted], remainingRequests24h: 4, nextAvailableAt: sample.MOMENT },
  },
  run: (gateway, call, { assetId }) => {
    const asset = assetId === undefined ? { index: -1 } : assetOf(gateway, assetId)
    if (asset instanceof Refused) return call.refuse(asset)
    const pending = pendingRequest(call, ({ i32, f64 }, base) => {
      const time = f64[(base + MINT_ANSWER.at.time) >>> 1]!
      const faucet = readFaucet(gateway.state, gateway.gate, call.account)
      call.answer({
        requestedAt: rfc3339(time),
        minted: mintedOf(gateway, {
          asset: i32[base + MINT_ANSWER.at.asset]!, sequence: f64[(base + MINT_ANSWER.at.sequence) >>> 1]!, requestedAt: time,
        }),
        remainingRequests24h: faucet === null ? 0 : remaining(gateway, faucet, time),
        ...availability(f64[(base + MINT_ANSWER.at.nextAvailableAt) >>> 1]!),
      })
    })
    const { onResult } = pending
    pending.onResult = (records, base) => {
      if (records.i32[base + MINT_ANSWER.at.code]! !== REFUSALS.FAUCET_LIMIT.number) return onResult(records, base)
      const wait = records.f64[(base + MINT_ANSWER.at.nextAvailableAt) >>> 1]! - records.f64[(base + MINT_ANSWER.at.time) >>> 1]!
      const retryAfter = Number.isFinite(wait) ? Math.max(1, Math.ceil(wait / 1000)) : FAUCET_WINDOW_MS / 1000
      const limit = gateway.genesis.faucetDailyLimit
      call.refuse(new Refused('FAUCET_LIMIT', `${REFUSALS.FAUCET_LIMIT.message}: the limit is ${limit}`, { retryAfter, limit }))
    }
    submit(gateway, call, pending, (at, correlation) => encodeMint(gateway.engine, at, correlation, call, asset.index))
  },
})
