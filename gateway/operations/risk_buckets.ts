/** Risk buckets of the caller, of all margin accounts or one. Orders make them; margin_transfers.ts moves collateral to and from them. */
import Type from 'typebox'
import { BUCKET_STATE_NAMES, BucketState, MARGIN_MODE_NAMES } from '../../core/view/margin.ts'
import { readMarginAccounts, type BucketInAccount } from '../../core/view/margin.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import * as sample from './example_values.ts'
import { pairFilter } from './history_filters.ts'
import { ListingOutput, ListingQuery, PAGES } from './listing.ts'
import { listLive } from './live_listing.ts'
import {
  bucketRecord, BucketStateName, collateralOf, findBucket, findMarginAccount, marginAccountIdField, MarginModeName, RiskBucketRecord,
  riskBucketIdField, strategyKey,
} from './margin_summary.ts'
import { operation } from './operation.ts'
import { READ } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field } from './schema.ts'

const Filters = {
  marginAccountId: Type.Optional(marginAccountIdField),
  tradingPairId: Type.Optional(fields.pairName),
  marginMode: Type.Optional(field(MarginModeName, 'ISOLATED or CROSS.')),
  strategyKey: Type.Optional(strategyKey),
  state: Type.Optional(field(BucketStateName, 'ACTIVE: all that are not closed. Closed ones are kept until their place is needed.')),
}

/** What a listing filters by. */
interface Filter {
  readonly tradingPairId?: string
  readonly marginMode?: MarginModeName
  readonly strategyKey?: string
  readonly state?: BucketStateName
}

function matches(gateway: Gateway, input: Filter) {
  const pair = pairFilter(gateway, input.tradingPairId)
  return ({ bucket }: BucketInAccount): boolean =>
    (input.marginMode === undefined || MARGIN_MODE_NAMES[bucket.mode] === input.marginMode) &&
    (input.strategyKey === undefined || bucket.strategyKey === input.strategyKey) &&
    (pair === undefined || bucket.pair === pair || bucket.scope.includes(pair)) &&
    (input.state === undefined || BUCKET_STATE_NAMES[bucket.state] === input.state ||
      (input.state === 'ACTIVE' && bucket.state !== BucketState.CLOSED))
}

/** Buckets of the caller in the margin account with this id, or in all; `null`: they are unreadable. */
function bucketsOf(gateway: Gateway, account: number, marginAccountId: string | undefined): BucketInAccount[] | Refused | null {
  const named = marginAccountId === undefined ? null : findMarginAccount(gateway, account, marginAccountId)
  if (named instanceof Refused) return named
  const accounts = named === null ? readMarginAccounts(gateway.state, gateway.gate, account) : [named]
  return accounts === null ? null : accounts.flatMap((margin) => margin.buckets.map((bucket) => ({ margin, bucket })))
}

export const ListRiskBuckets = operation({
  service: 'MarginAccountsService', method: 'GET', path: '/api/v1/margin/risk-buckets',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Risk buckets',
  description: `Risk buckets of the caller, newest first. ${PAGES}`,
  answer: 'A page of risk buckets.',
  refusals: ['NOT_FOUND', ...READ],
  query: Type.Object({ ...ListingQuery, ...Filters }),
  output: Type.Object({ riskBuckets: field(Type.Array(RiskBucketRecord), 'Newest first.'), ...ListingOutput }),
  example: { input: { state: 'ACTIVE', page: 1, pageSize: 20 }, output: { riskBuckets: [sample.riskBucket], ...sample.page } },
  run: (gateway, call, input) => {
    const asset = collateralOf(gateway)
    if (asset instanceof Refused) return call.refuse(asset)
    const all = bucketsOf(gateway, call.account, input.marginAccountId)
    if (all instanceof Refused) return call.refuse(all)
    const positionOf = ({ bucket }: BucketInAccount) => ({ sequence: bucket.createdSequence, index: bucket.row })
    listLive(gateway, call, 'ListRiskBuckets', input, () => all?.filter(matches(gateway, input)) ?? null, positionOf, (rows, fields) =>
      call.answer({ riskBuckets: rows.map((found) => bucketRecord(gateway, asset, call.account, found)), ...fields }))
  },
})

export const GetRiskBucket = operation({
  service: 'MarginAccountsService', method: 'GET', path: '/api/v1/margin/risk-buckets/{riskBucketId}',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'One risk bucket',
  description: "Reads one risk bucket of the caller. Somebody else's and a missing one are the same 404.",
  answer: 'The risk bucket.',
  refusals: ['NOT_FOUND', ...READ],
  params: Type.Object({ riskBucketId: riskBucketIdField }),
  output: RiskBucketRecord,
  example: { input: { riskBucketId: sample.RISK_BUCKET }, output: sample.riskBucket },
  run: (gateway, call, input) => {
    const asset = collateralOf(gateway)
    if (asset instanceof Refused) return call.refuse(asset)
    const found = findBucket(gateway, call.account, input.riskBucketId)
    if (found instanceof Refused) call.refuse(found)
    else call.answer(bucketRecord(gateway, asset, call.account, found))
  },
})
