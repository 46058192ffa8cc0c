/**
 * Promise: fee tiers follow the volume of 30 UTC days up to and including today, as taker and maker, at the prices of the trades: what the
 * history finds is what adding up every trade gives, whichever accounts it looks at, and after a look nothing is left to change.
 *
 * One run again: SEED=7 VARIANT=fees COMMANDS=5000 node ... test/property/history_tiers.test.ts
 */
import t from 'tap'
import { createTierWatch, type TierWatch } from '../../core/history/tiers.ts'
import { ACCOUNT, ACCOUNT_WORDS, CLOCK, SCALAR } from '../../core/state/columns.ts'
import type { TierChange } from '../../core/threads.ts'
import { runHistory, type HistoryRun } from '../support/history.ts'

const { SEED, VARIANT, COMMANDS } = process.env
const given = SEED !== undefined || VARIANT !== undefined
const RUNS = given
  ? [[VARIANT ?? 'market', Number(SEED ?? 1), Number(COMMANDS ?? 5000)] as const]
  : ([['market', 51, 15_000], ['tight', 52, 8_000], ['market', 53, 8_000]] as const)
const DAY_MS = 86_400_000

/** Tier of every account by adding up its trades. */
function tiersOf({ plain, genesis, state }: HistoryRun): number[] {
  const { asset, tiers } = genesis.feeTiers
  const today = Math.floor(state.clock[CLOCK.TIME]! / DAY_MS)
  const since = (today - 29) * DAY_MS
  const volumes: bigint[] = Array.from({ length: state.scalars[SCALAR.ACCOUNTS]! }, () => 0n)
  const prices = new Map<number, number>()
  for (const { pair, price, quote, time, makerAccount, takerAccount } of plain.trades) {
    const quoted = genesis.pairs[pair]!.quote
    const pricing = genesis.pairs.find((each) => each.base === quoted && each.quote === asset)
    prices.set(pair, price)
    const ticks = BigInt(pricing === undefined ? 0 : (prices.get(pricing.index) ?? 0))
    const value = quoted === asset ? quote : pricing === undefined ? 0n : (quote * ticks * pricing.tickLotAtoms) / pricing.lotAtoms
    if (time < since) continue
    volumes[makerAccount]! += value
    volumes[takerAccount]! += value
  }
  return volumes.map((volume) => tiers.findLastIndex((tier) => tier.minVolumeAtoms <= volume))
}

/** Looks until nothing is pending. */
function look(watch: TierWatch): TierChange[] {
  const changes: TierChange[] = []
  watch.begin()
  while (watch.pending > 0) changes.push(...watch.look())
  return changes
}

for (const [variant, seed, commands] of RUNS) {
  t.test(`${variant}, seed ${seed}, ${commands} commands`, async (t) => {
    t.comment(`again: SEED=${seed} VARIANT=${variant} COMMANDS=${commands} node ... test/property/history_tiers.test.ts`)
    let watch: TierWatch | null = null
    /** Tiers after the last look, and the accounts whose tier a command of the workload has changed since it was last found out. */
    const left: number[] = []
    const overruled = new Set<number>()
    const wrong: string[] = []
    const seen = new Set<number>()
    let changes = 0
    let looks = 0
    runHistory(variant, seed, commands, (run, index) => {
      const { state } = run
      watch ??= createTierWatch(run)
      const tierAt = (account: number): number => state.accounts[account * ACCOUNT_WORDS + ACCOUNT.TIER]!
      left.forEach((tier, account) => tier !== tierAt(account) && overruled.add(account))
      for (const { account, tier } of look(watch)) {
        // As the operator's command does.
        state.accounts[account * ACCOUNT_WORDS + ACCOUNT.TIER] = tier
        overruled.delete(account)
        changes++
      }
      looks++
      const wanted = tiersOf(run)
      wanted.forEach((tier, account) => {
        seen.add(tier)
        const has = tierAt(account)
        left[account] = has
        // A tier given by a command of the workload stands until the account trades or a day begins.
        if (!overruled.has(account) && has !== tier) wrong.push(`command ${index}: account ${account} has ${has}, earned ${tier}`)
      })
      const unearned = look(createTierWatch(run)).filter(({ account, tier }) => wanted[account] !== tier)
      t.strictSame(unearned, [], `look ${looks}: only what was earned`)
    })
    t.strictSame(wrong.slice(0, 3), [], `${looks} looks, ${changes} changes`)
    t.ok(changes > 5 && seen.size > 1, `tiers ${[...seen].sort().join(', ')} were earned`)
  })
}
