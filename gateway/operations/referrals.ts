/**
 * What a user sees of the referral program: who brought him, whom he brought, and what he earned of whom (specification, Referral
 * program). The caller asks for himself; there is no other name to ask for. Others appear by wallet and display alone.
 *
 * Who brought whom, and how many, is read from the engine's columns; all rewards from the history.
 */
import Type, { type Static } from 'typebox'
import type { HistoryReward, RewardSource, RewardTotal } from '../../core/history/answer/queries.ts'
import { tradeId } from '../../core/layout/ids.ts'
import { REFERRAL_LEVELS } from '../../core/layout/referrals.ts'
import { ppmText } from '../../core/lib/ppm.ts'
import { readAccount } from '../../core/view/accounts.ts'
import { REFEREES_MOST, readReferees, readReferralShares, readReferrer } from '../../core/view/referrals.ts'
import { askHistory } from '../bridge/history.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { amountText } from './amounts.ts'
import { PUBLIC_USER, PublicUser, publicUsers } from './display.ts'
import * as sample from './example_values.ts'
import * as fields from './fields.ts'
import { AsOf, asOfField } from './listing.ts'
import { Decimal, Nullable, operation, rfc3339, Timestamp, Uuid } from './operation.ts'
import { referralCodeOf } from './referral_code.ts'
import { HISTORY, READ } from './refusal_groups.ts'
import { field, record } from './schema.ts'

const RewardAmount = record('RewardAmount', 'Rewards in one token.', Type.Object({ token: fields.token, amount: fields.amount }))
type RewardAmount = Static<typeof RewardAmount>
const level = field(
  Type.Integer({ minimum: 1, maximum: REFERRAL_LEVELS }),
  '1: brought by the caller; 2: by somebody of level 1; 3: by somebody of level 2.',
)
const earned = field(Type.Array(RewardAmount), 'Ever, by token; transferred or not.')

const ReferralRewardEntry = record('ReferralRewardEntry', 'What one fill of somebody brought the caller.', Type.Object({
  tradeId: field(Uuid, 'The trade.'),
  level,
  source: field(PublicUser, 'Who traded; of a sub-account its master.'),
  token: fields.token,
  amount: fields.amount,
  createdAt: field(Timestamp, 'When the trade was.'),
}))
type ReferralRewardEntry = Static<typeof ReferralRewardEntry>
const RewardSourceRecord = record('ReferralSource', 'What the caller earned of one user.', Type.Object({
  source: field(PublicUser, 'Who traded; of a sub-account its master.'),
  level,
  earned,
  lastEarnedAt: field(Timestamp, 'When the last reward came.'),
}))
type RewardSourceRecord = Static<typeof RewardSourceRecord>
const Referee = record('Referee', 'A user whom the caller brought.', Type.Object({
  ...PUBLIC_USER, joinedAt: field(Timestamp, 'First sign-in.'),
}))
const ReferralLevel = record('ReferralLevel', 'One level of those the caller brought.', Type.Object({
  level,
  referees: field(Type.Integer(), 'Users of this level now.'),
  share: field(Decimal, 'What the caller earns of the net fee income of their fills now, 0 to 1.'),
  earned,
}))
type ReferralLevel = Static<typeof ReferralLevel>

const unreadable = (): Refused => new Refused('ENGINE_UNAVAILABLE')

/** Sums by asset, in the order of the assets; those that this thread does not know yet are left out. */
function amountsOf({ genesis }: Gateway, sums: readonly { asset: number; amount: bigint }[]): RewardAmount[] {
  const atoms = new Map<number, bigint>()
  for (const { asset, amount } of sums) atoms.set(asset, (atoms.get(asset) ?? 0n) + amount)
  return genesis.assets.filter(({ index }) => atoms.has(index))
    .map((asset) => ({ token: asset.token, amount: amountText(asset, atoms.get(asset.index)!) }))
}

/** Who traded, by account; who earned somebody a reward keeps his row. `null`: they cannot be read. */
function sourcesOf(gateway: Gateway, rows: readonly { source: number }[]): Map<number, PublicUser> | null {
  const accounts = [...new Set(rows.map(({ source }) => source))]
  const users = publicUsers(gateway, accounts.map((account) => readAccount(gateway.state, account)))
  return users === null ? null : new Map(accounts.map((account, index) => [account, users[index]!]))
}

/** `null`: unreadable. */
function rewardRecords(gateway: Gateway, entries: readonly HistoryReward[]): ReferralRewardEntry[] | null {
  const sources = sourcesOf(gateway, entries)
  if (sources === null) return null
  return entries.flatMap((entry) => {
    const asset = gateway.genesis.assets[entry.asset]
    return asset === undefined ? [] : [{
      tradeId: tradeId(entry.sequence, entry.index), level: entry.level, source: sources.get(entry.source)!, token: asset.token,
      amount: amountText(asset, entry.amount), createdAt: rfc3339(entry.time),
    }]
  })
}

/** The wallet that brought the caller, `undefined`: none; `null`: unreadable. */
function referrerOf(gateway: Gateway, account: number): PublicUser | undefined | null {
  const referrer = readReferrer(gateway.state, account)
  if (referrer === undefined || referrer === null) return referrer
  return publicUsers(gateway, [referrer])?.[0] ?? null
}

const SOURCES = 'A reward is credited with the fill, in the token of its fee'

export const GetReferralPosition = operation({
  service: 'ReferralsService', method: 'GET', path: '/api/v1/refprog/referrals/me',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'The caller in the referral program',
  description: 'The caller\'s own code, who brought the caller, all rewards ever and the newest hundred. '
    + `${SOURCES}; those of others are not told. When the history cannot be read this is 503.`,
  answer: 'Code, referrer and rewards.',
  refusals: [...READ, ...HISTORY],
  output: Type.Object({
    referralCode: field(Type.String(), 'Who gives it at the first sign-in was brought by the caller. It never changes.'),
    referrer: field(Nullable(PublicUser), 'Who brought the caller; null: nobody, or one whose account is no more.'),
    totalEarned: earned,
    rewards: field(Type.Array(ReferralRewardEntry), 'The newest, at most 100, newest first.'),
    ...AsOf,
  }),
  example: {
    input: {},
    output: {
      referralCode: 'KQ7M-02XD-9FTE', referrer: sample.otherUser, totalEarned: sample.rewardSource.earned, rewards: [sample.reward],
    },
  },
  run: (gateway, call) => {
    askHistory(gateway.history, 'rewards', { account: call.account }, (found, _, behind) => {
      if (found instanceof Refused) return call.refuse(found)
      const [referrer, rewards] = [referrerOf(gateway, call.account), rewardRecords(gateway, found.entries)]
      if (referrer === null || rewards === null) return call.refuse(unreadable())
      call.answer({
        referralCode: referralCodeOf(gateway, call.account), referrer: referrer ?? null, totalEarned: amountsOf(gateway, found.totals),
        rewards, ...asOfField(behind),
      })
    })
  },
})

/** What the caller earned of each source; `null`: unreadable. */
function sourceRecords(gateway: Gateway, rows: readonly RewardSource[]): RewardSourceRecord[] | null {
  const sources = sourcesOf(gateway, rows)
  return sources === null ? null : rows.map((row) => ({
    source: sources.get(row.source)!, level: row.level, earned: amountsOf(gateway, row.earned), lastEarnedAt: rfc3339(row.time),
  }))
}

function levelRecords(
  gateway: Gateway, counts: readonly number[], shares: readonly number[], totals: readonly RewardTotal[],
): ReferralLevel[] {
  return counts.map((referees, index) => ({
    level: index + 1, referees, share: ppmText(shares[index]!),
    earned: amountsOf(gateway, totals.filter((total) => total.level === index + 1)),
  }))
}

export const GetReferralDownline = operation({
  service: 'ReferralsService', method: 'GET', path: '/api/v1/refprog/referrals/me/downline',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Whom the caller brought',
  description: `Whom the caller brought, how many there are on each level, and what they earned him. ${SOURCES}; earnings are told of the `
    + 'hundred users whose fills earned a reward last. When the history cannot be read this is 503.',
  answer: 'Earnings by source, direct referees and a summary by level.',
  refusals: [...READ, ...HISTORY],
  output: Type.Object({
    earningsBySource: field(Type.Array(RewardSourceRecord), 'Of all levels, at most 100: whose last reward is the newest comes first.'),
    directReferees: field(Type.Array(Referee), `Users whom the caller brought, at most ${REFEREES_MOST}, newest first.`),
    complete: field(Type.Boolean(), 'Whether directReferees has all of them; false also when some could not be read now.'),
    summary: field(Type.Array(ReferralLevel), 'Levels 1 to 3.'),
    ...AsOf,
  }),
  example: {
    input: {},
    output: {
      earningsBySource: [sample.rewardSource], directReferees: [sample.referee], complete: true,
      summary: [
        sample.referralLevel, { level: 2, referees: 0, share: '0.05', earned: [] }, { level: 3, referees: 0, share: '0.025', earned: [] },
      ],
    },
  },
  run: (gateway, call) => {
    askHistory(gateway.history, 'rewardSources', { account: call.account }, (found, _, behind) => {
      if (found instanceof Refused) return call.refuse(found)
      const { state, gate } = gateway
      const { referees, complete, counts } = readReferees(state, gate, call.account)
      const shares = readReferralShares(state, gate)
      const [users, earningsBySource] = [publicUsers(gateway, referees), sourceRecords(gateway, found.sources)]
      if (shares === null || users === null || earningsBySource === null) return call.refuse(unreadable())
      call.answer({
        earningsBySource,
        directReferees: users.map((user, index) => ({ ...user, joinedAt: rfc3339(referees[index]!.createdAt) })),
        complete,
        summary: levelRecords(gateway, counts, shares, found.totals),
        ...asOfField(behind),
      })
    })
  },
})
