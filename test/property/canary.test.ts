/**
 * Promise: the property tests would notice. Faults are planted one at a time, in the rules of the naive exchange, in the state
 * between two commands and in copies of the engine's own source, and each must be caught: by a comparison or an invariant that names
 * what differs. A copy that crashes, or does not end, was not caught. A planted fault whose place is no longer in the source fails too:
 * plant it anew. A few of them in `npm test`, others each time, all in `npm run test:deep`. `FAULT=TEXT` plants only those whose place
 * has this text.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import {
  ACCOUNT, AGENT, AgentStatus, APPLICATION, APPLICATION_WORDS, LEVEL, LEVEL_WORDS, ORDER, ORDER_WORDS, PAIR, PROFILE, PROFILE_WORDS, SCALAR,
  SESSION, SESSION_LINK, SPEND_LIMIT,
} from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import type { State } from '../../core/state/state.ts'
import { RULES } from '../support/naive.ts'
import { duel, type DuelOptions } from '../support/naive_compare.ts'
import { shuffled } from '../suite/files.ts'
import { DEEP, eachRound, seedOf } from '../suite/rounds.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Faults in the source that `npm test` plants. */
const SHORT = 1
const BASE: DuelOptions = { variant: 'market', seed: 41, commands: 5000, checkEvery: 50 }

t.test('wrong rules are caught', async (t) => {
  t.doesNotThrow(() => duel(BASE), 'right rules pass')
  const floor = (sum: bigint): bigint => sum / 1_000_000n
  t.throws(() => duel({ ...BASE, rules: { ...RULES, fee: floor } }), /the events differ/, 'fees rounded down')
  const reversed = { ...RULES, earlier: (a: { place: number }, b: { place: number }) => b.place - a.place }
  t.throws(() => duel({ ...BASE, rules: reversed }), /the events differ/, 'last come, first served')
})

/** Slot of the first order that rests, or -1. */
function firstLive(state: State): number {
  for (let slot = 0; slot < state.scalars[SCALAR.ORDERS_USED]!; slot++) {
    if (state.ordersF64[(slot * ORDER_WORDS + ORDER.SEQUENCE) >>> 1] !== 0) return slot
  }
  return -1
}

const levelAt = (state: State, slot: number): number => state.orders[slot * ORDER_WORDS + ORDER.LEVEL]! * LEVEL_WORDS

const SPOILS: Record<string, [expected: RegExp, spoil: (state: State, slot: number) => void]> = {
  'an atom appears': [/I1/, (state) => { state.balances[0]! += 1n }],
  'an atom moves to locked': [/I2/, (state) => { state.balances[0]! -= 1n; state.balances[1]! += 1n }],
  'a hold shrinks': [/I2/, (state, slot) => { state.ordersI64[(slot * ORDER_WORDS + ORDER.HOLD) >>> 1]! -= 1n }],
  'a lot vanishes': [/I2|I6|I10/, (state, slot) => { state.orders[slot * ORDER_WORDS + ORDER.REMAINING]! -= 1 }],
  'a level counts a lot too many': [/I6/, (state, slot) => { state.levelsF64[(levelAt(state, slot) + LEVEL.LOTS) >>> 1]! += 1 }],
  'the best bid is off': [/I6/, (state) => { state.pairs[PAIR.BEST_BID]! += 1 }],
  'a bit of a bitmap flips': [/I6/, (state) => { state.bitmaps[0]! ^= 1 }],
  'a page leaves the directory': [/I6/, (state) => { state.directory[state.directory.findIndex((page) => page !== 0)] = 0 }],
  'an account counts an order too few': [/P:/, (state) => { state.accounts[ACCOUNT.OPEN_ORDERS]! -= 1 }],
  'an account has another discount than its tier': [/T: account/, (state) => { state.accounts[ACCOUNT.TAKER_DISCOUNT]! += 1 }],
  'an account is in a tier that does not exist': [/T: account/, (state) => { state.accounts[ACCOUNT.TIER] = 4 }],
  'a pair has a status that does not exist': [/T: pair/, (state) => { state.pairs[PAIR.STATUS] = 3 }],
  'a resting order has a rate of no tier': [/T: order/, (state, slot) => { state.orders[slot * ORDER_WORDS + ORDER.MAKER_PPM]! += 1 }],
  'an agent counts an order too many': [/A: agent/, (state) => { state.agents[AGENT.OPEN_ORDERS]! += 1 }],
  'an agent has no status': [/A: agent/, (state) => { state.agents[AGENT.STATUS] = AgentStatus.NONE }],
  'an agent leaves the list of its owner': [/A: a/, (state) => {
    state.profiles[state.agents[AGENT.OWNER]! * PROFILE_WORDS + PROFILE.FIRST_AGENT] = 0
  }],
  'a list of sessions is lost': [/A: live session/, (state) => { state.profiles[PROFILE.FIRST_SESSION] = 0 }],
  'a session becomes an agent\'s': [/A: session/, (state) => { state.sessions[SESSION.AGENT] = 1 }],
  'a list of sessions ends in itself': [/A: session/, (state) => { state.sessionLinks[SESSION_LINK.NEXT] = 1 }],
  'an account gets a master': [/F: /, (state) => { state.profiles[PROFILE.MASTER] = 2 }],
  'an order comes later in the due queue than it expires': [/D: /, (state) => { state.dueKeys[2 * state.dueHeap[1]!] = Infinity }],
  'a limit row appears': [/F: /, (state) => { state.scalars[SCALAR.SPEND_LIMITS_USED] = 1 }],
  'a family counts an order too few': [/S: /, (state) => { state.accounts[ACCOUNT.FAMILY_ORDERS]! -= 1 }],
  'a family counts a receipt too many': [/S: /, (state) => { state.accounts[ACCOUNT.FAMILY_RECEIPTS]! += 1 }],
  'a family counts an agent too many': [/S: /, (state) => { state.accounts[ACCOUNT.FAMILY_AGENTS]! += 1 }],
  'a family counts a spend limit too many': [/S: /, (state) => { state.accounts[ACCOUNT.FAMILY_LIMITS]! += 1 }],
  'an account forgets a receipt': [/S: /, (state) => { state.accounts[ACCOUNT.RECEIPTS]! -= 1 }],
  'an account counts for another family': [/S: /, (state) => { state.accounts[ACCOUNT.FAMILY] = 1 }],
  'an application counts a user too many': [/C: /, (state) => { state.applications[APPLICATION.ACCOUNTS]! += 1 }],
  'two applications have one client id': [/C: /, (state) => {
    state.applications.copyWithin(APPLICATION.CLIENT_ID, APPLICATION_WORDS + APPLICATION.CLIENT_ID, APPLICATION_WORDS + APPLICATION.NAME)
  }],
  'an application counts an origin that is not there': [/C: /, (state) => { state.applications[APPLICATION.ORIGINS] = 1 }],
  'an old key has no end': [/C: /, (state) => { state.applications[APPLICATION.OLD_KEY] = 1 }],
  'a label is lost': [/I12|P:/, (state) => { state.clientOrderIdIndex.fill(0) }],
}

for (const [name, [expected, spoil]] of Object.entries(SPOILS)) {
  t.test(`spoiled state: ${name}`, async (t) => {
    const at = 900
    const planted = (state: State, index: number): void => {
      // Some spoil what only an order with a client order id has.
      if (index < at || state.clientOrderIdIndex.every((entry) => entry === 0)) return
      spoil(state, firstLive(state))
      // At once: a command that meets a spoiled index may never end.
      checkInvariants(state)
    }
    t.throws(() => duel({ ...BASE, commands: 2 * at, spoil: planted }), expected)
  })
}

t.test('spoiled state: a limit counts an atom too many', async (t) => {
  const at = 2000
  const planted = (state: State, index: number): void => {
    if (index !== at) return
    t.ok(state.scalars[SCALAR.SPEND_LIMITS_USED]! > 0, 'there is a limit')
    state.spendLimitsI64[SPEND_LIMIT.OUTSTANDING >>> 1]! += 1n
    checkInvariants(state)
  }
  t.throws(() => duel({ ...BASE, variant: 'family', commands: at + 1, spoil: planted }), /F: limit/)
})

const FULL = 'if (isNew && !makeRoom(state)) return refuse(state, command, base, REFUSALS.OVERLOADED.number)'

const EXPIRED = 'return getF64(state, row, ORDER.EXPIRES_AT)'

const MAKER_RATE_NOW =
  'get(state, terms, TERMS.MAKER_PPM) - get(state, accountRow(state, owner), ACCOUNT.MAKER_DISCOUNT)'

/** Faults in the engine's source: file, what stands there, what it becomes. */
const FAULTS: [file: string, from: string, to: string][] = [
  ['ledger/fees.ts', '+ 999_999n', '+ 0n'],
  ['ledger/fees.ts', 'signOf(state, row, ORDER.FEE_NUMERATOR) >= 0', 'get(state, row, Number(ORDER.FEE_NUMERATOR)) >= 0'],
  ['ledger/settle.ts', '  gain(state, house, TOTAL.FEES, R.MAKER_FEE)\n', ''],
  ['book/match.ts', 'return Reason.SELF_TRADE_PREVENTION', 'return Reason.NONE'],
  ['book/match.ts', EXPIRED, EXPIRED.replace('return', 'return (get(state, row, ORDER.FLAGS) & Flag.EXPIRES) !== 0 &&')],
  ['book/walk.ts', 'if (!isExpired(state, row))', 'if (row >= 0)'],
  ['state/bitmaps.ts', 'if (left !== 0) return', 'if (left === 0) return'],
  ['book/levels.ts', 'if (next < 0) set(state, at, LEVEL.TAIL', 'if (next < -1) set(state, at, LEVEL.TAIL'],
  ['orders/admission.ts', 'PROTECTIVE_BAND_BPS = 1000', 'PROTECTIVE_BAND_BPS = 999'],
  // A small SELL need not be all there is; it may rest beside others of its balance.
  ['orders/admission.ts', ' || registers[R.AMOUNT]! >= getI64(state, terms, TERMS.LOT_ATOMS)) return false', ') return false'],
  ['orders/admission.ts', 'getI64(state, balance, BALANCE.LOCKED) === registers[R.RELEASE]!', 'true'],
  ['orders/admission.ts', 'Math.ceil(', 'Math.floor('],
  ['orders/admission.ts', '>= state.maxOpenOrders', '> state.maxOpenOrders'],
  // A resting order would follow its account to another tier.
  ['ledger/settle.ts', 'get(state, maker, ORDER.MAKER_PPM), R.MAKER_FEE', `${MAKER_RATE_NOW}, R.MAKER_FEE`],
  ['ledger/settle.ts', '- discount, R.TAKER_FEE', ', R.TAKER_FEE'],
  ['book/pool.ts', 'TERMS.MAKER_PPM) - discount', 'TERMS.MAKER_PPM)'],
  ['orders/admission.ts', 'TAKER_PPM) - get(state, owner, ACCOUNT.TAKER_DISCOUNT))', 'TAKER_PPM))'],
  ['orders/admission.ts', 'taker = get(state, terms, TERMS.TAKER_PPM) - get', 'taker = get(state, terms, TERMS.TAKER_PPM) - 0 * get'],
  ['orders/admission.ts', '- get(state, owner, ACCOUNT.MAKER_DISCOUNT)', ''],
  ['orders/cancel.ts', 'if (isHalted(state, row))', 'if (row < 0)'],
  ['orders/sweep.ts', '  if (by !== SweptBy.OPERATOR && isHalted(state, row)) return false\n', ''],
  ['orders/sweep.ts', 'if (by !== SweptBy.OPERATOR && isHalted(', 'if (isHalted('],
  ['orders/place.ts', '=== PairStatus.ACTIVE ? 0', '!== 0 ? 0'],
  ['programs/policy.ts', '=== 0 ? 0 : REFUSALS.OPERATOR_ONLY.number', '>= 0 ? 0 : 1'],
  ['programs/applications.ts', 'gatewayOfKind(command.u32[base]!) !== 0', 'gatewayOfKind(command.u32[base]!) < 0'],
  ['programs/applications.ts', 'other !== application && ', ''],
  ['programs/applications.ts', 'used >= genesis.limits.applications', 'used > genesis.limits.applications'],
  ['programs/applications.ts', 'place >= ORIGINS_MAX', 'place > ORIGINS_MAX'],
  ['programs/applications.ts', '!ends && graceMs > 0', 'graceMs > 0'],
  ['programs/applications.ts', '=== 0 ? REFUSALS.APPLICATION_INACTIVE', '=== 2 ? REFUSALS.APPLICATION_INACTIVE'],
  ['orders/place.ts', 'if (!rests) giveSlot(state, row)', ''],
  ['orders/replace.ts', '&& lots < get', '&& lots <= get'],
  ['orders/replace.ts', ' && holder !== get(state, row, ORDER.SLOT)', ''],
  ['orders/sweep.ts', 'if (ended >= limit) left++', 'if (ended > limit) left++'],
  ['orders/sweep.ts', '(ended >= limit || looked', '(ended > limit || looked'],
  ['orders/sweep.ts', 'row >= 0 && get(state, row, ORDER.ACCOUNT) === account', 'row >= 0'],
  ['orders/sweep.ts', 'fromSequence === 0 ? -1', 'fromSequence >= 0 ? -1'],
  ['orders/sweep.ts', 'if (byOperator) set', 'if (limit < 0) set'],
  ['programs/loss.ts', 'clock[CLOCK.SEQUENCE] = resume', 'clock[CLOCK.SEQUENCE]! += 1'],
  ['programs/receipts.ts', 'flags]! |= Flag.REPEATED', 'flags]! |= 0'],
  ['programs/faucet.ts', 'if (made < limit)', 'if (made <= limit)'],
  [
    'programs/sessions.ts',
    `${FULL}\n  const session = takeRow(state, holder, account, -1)`,
    `const session = takeRow(state, holder, account, -1)\n  ${FULL}`,
  ],
  // A revoked agent could go on; grants would be ignored, or outlasted, or other orders than the agent's would end.
  ['programs/agents.ts', '  endSessionsOf(state, agent)\n', ''],
  ['programs/agents.ts', 'if (until !== 0) capSessionsOf(state, agent, until)', ''],
  ['programs/agents.ts', ' && orderAgents[slot] === agent + 1', ''],
  ['programs/agents.ts', 'AGENT.OPEN_ORDERS) > 0', 'AGENT.OPEN_ORDERS) > 1'],
  ['programs/agents.ts', 'if (statusOf(state, each) ===', 'if (found < 0 && statusOf(state, each) ==='],
  ['programs/agents.ts', '!inRange || own ||', '!inRange ||'],
  ['programs/sessions.ts', 'Math.min(expires, granted)', 'expires'],
  ['programs/sessions.ts', ' || get(state, row, SESSION.AGENT) !== agent + 1', ''],
  ['state/session_lists.ts', '++live <= limit', '++live <= limit + 1'],
  // A key would be another's after its session, or kept rows fill the table; nobody would be asked for consent.
  ['programs/sessions.ts', '(isDead(state, holder) && !keepsKeys(state))', 'isDead(state, holder)'],
  ['programs/sessions.ts', 'endOf(state, session) + KEY_KEPT_MS <=', 'endOf(state, session) <='],
  ['programs/agents.ts', '  disownSessions(state, found)\n', ''],
  ['programs/policy.ts', 'if (before < 1) noteEnds(state)', ''],
  ['programs/sessions.ts', 'if (master >= 0) consent(state, account, master)', ''],
  ['programs/consent.ts', 'get(state, row, PROFILE.MASTER) !== master + 1 || ', ''],
  ['programs/sub_accounts.ts', 'if (from !== master && needsConsent(state)', 'if (from < 0'],
  ['programs/sub_accounts.ts', 'if (!consented && needsConsent(state))', 'if (master < 0)'],
  ['state/session_lists.ts', 'if (next !== 0) set(state, linkRow(state, next - 1), PREV, prev)', ''],
  ['programs/grants.ts', 'if (pair >= 0 && asks(way, PAIR) && !mayTrade(state, agent, pair)) return PAIR', ''],
  ['programs/grants.ts', 'touch > limit ? touch : limit', 'touch < 0 ? touch : limit'],
  ['programs/grants.ts', 'AgentTimeInForce.GTC, !own)', 'AgentTimeInForce.GTC, true)'],
  ['book/match.ts', 'Option.TELL_SELF_TRADE) !== 0) emitSelfTrade', 'Option.TELL_SELF_TRADE) === 0) emitSelfTrade'],
  // What applications charge: of which side, of what there is, within the cap; held, spent, and changed by whom and how often.
  ['ledger/add_ons.ts', 'ADD_ON.MAKER_PPM : ADD_ON.TAKER_PPM', 'ADD_ON.TAKER_PPM : ADD_ON.MAKER_PPM'],
  ['ledger/add_ons.ts', '(bps < cap ? bps : cap)', 'bps'],
  ['ledger/fees.ts', '  registers[R.HOLD] = registers[R.HOLD]! + registers[R.ADD_ON]!\n', ''],
  ['ledger/spending.ts', 'if (isCharged(state, maker))', 'if (maker < 0)'],
  ['ledger/fill_shares.ts', 'if (registers[R.MAKER_FEE]! < 0n)', 'if (taker < 0)'],
  ['orders/admission.ts', '    requireAddOn(state, addOnOf(state, account, flags, false))\n', ''],
  ['programs/builder.ts', 'changesLeft(state, row) === 0 ? REFUSALS', 'changesLeft(state, row) < 0 ? REFUSALS'],
  ['programs/builder.ts', 'APPLICATION.PAYOUT) !== account + 1', 'APPLICATION.PAYOUT) < 0'],
  // Referrals: links of rows that change hands, what is counted, who earns what of which fill, and what a transfer leaves.
  ['state/referral_links.ts', 'made === getF64(state, row, REFERRAL.REFERRER_SEQUENCE)', 'made > 0'],
  ['state/referral_links.ts', 'change * sizes[far - level]!', 'far === level ? change : 0'],
  ['state/referral_links.ts', 'else if (referrer >= 0)', 'else if (older !== 0)'],
  ['ledger/fill_shares.ts', 'registers[R.M0] = registers[R.M0]! - registers[R.AMOUNT]!', ''],
  ['ledger/rewards.ts', 'const source = get(state, accountRow(state, owner), ACCOUNT.FAMILY)', 'const source = owner'],
  ['ledger/rewards.ts', 'referralShare(state, level)', 'referralShare(state, 0)'],
  ['ledger/rewards.ts', '  keepAccount(state, account)\n', ''],
  ['programs/accounts.ts', 'ACCOUNT.APPLICATION) !== application', 'ACCOUNT.APPLICATION) < 0'],
  ['programs/referrals.ts', '  lose(state, totalRow(state, asset), TOTAL.REWARDS, R.AMOUNT)\n', ''],
  // Money out: what is locked, paid or given back, limits and days, who approves, and which edges there are.
  ['programs/withdrawals.ts', '  gain(state, balance, BALANCE.AVAILABLE, R.AMOUNT)\n', ''],
  ['programs/withdrawals.ts', '  lose(state, balance, BALANCE.LOCKED, R.AMOUNT)\n', ''],
  ['programs/withdrawals.ts', '    lose(state, totalRow(state, asset), TOTAL.ISSUED, R.AMOUNT)\n', ''],
  ['programs/withdrawals.ts', 'shareOfDay(state, userDaily) > WHOLE_DAY', 'shareOfDay(state, userDaily) >= WHOLE_DAY'],
  ['programs/withdrawals.ts', '+ amount > dayCeiling(', '+ amount > 1n + dayCeiling('],
  ['programs/withdrawals.ts', '+ daily - 1n) / daily', ') / daily'],
  ['programs/withdrawals.ts', '  if (isOfToday) {\n', '  {\n'],
  ['programs/withdrawals.ts', ' && getF64(state, row, W.SIGNED_DAY) === today(state)', ''],
  ['programs/withdrawals.ts', 'Counting.FIRST : 0', 'Counting.FIRST : Counting.FIRST'],
  ['programs/withdrawals.ts', '    countSigned(state, row)\n', ''],
  ['programs/withdrawals.ts', '  return mayBeSigned(state, row) ? 0', '  return state !== null ? 0'],
  ['programs/withdrawals.ts', 'VAULT_TOTAL.DAY) === today(state) ?', 'VAULT_TOTAL.DAY) > 0 ?'],
  ['programs/withdrawals.ts', 'shareOfDay(state, approvalAbove) > WHOLE_DAY', 'shareOfDay(state, approvalAbove) >= WHOLE_DAY'],
  ['programs/withdrawals.ts', 'Math.max(0, askedBy(state, account) - 1) + shareOfDay', 'shareOfDay'],
  ['state/vault_terms.ts', 'kept / 2n', 'kept'],
  ['programs/withdrawals.ts', '(get(state, row, W.FLAGS) & NEEDS_APPROVAL) !== 0) return', 'row < 0) return'],
  ['programs/withdrawals.ts', '(1 << SIGNED) | (1 << CONFIRMED) | (1 << EXPIRED),\n]', '(1 << SIGNED) | (1 << CONFIRMED),\n]'],
  ['programs/withdrawals.ts', '  if (isStopped(state)) return REFUSALS.WITHDRAWALS_STOPPED.number\n  const', '  const'],
  ['programs/withdrawal_policy.ts', 'Math.max(cause, before)', 'cause'],
  ['state/vault_pools.ts', '  add(state, familyRow(state, account), FAMILY_LIVE, change)\n', ''],
  ['state/vault_pools.ts', '>= withdrawalsPerAccount', '> withdrawalsPerAccount'],
  // Money in: once, wherever the chain goes back to, and in suspense until somebody has it.
  ['programs/deposits.ts', 'command, base, D.logIndex) > get', 'command, base, D.logIndex) >= get'],
  ['programs/deposits.ts', ' || wasTaken(state, command, base)', ''],
  ['programs/deposits.ts', '    if (known !== MOVED) return true\n', '    if (known === MOVED) continue\n'],
  ['programs/deposits.ts', '  keepAccount(state, account)\n', ''],
  ['state/vault_pools.ts', 'asset), VAULT_TOTAL.WITHDRAWN)', 'asset), VAULT_TOTAL.WITHDRAWN) * 0n'],
  ['programs/deposits.ts', '  gain(state, vaultTotalRow(state, asset), VAULT_TOTAL.SUSPENSE, R.AMOUNT)\n', ''],
  ['programs/deposits.ts', '  dropLost(state, lost)\n', ''],
  ['programs/deposits.ts', '  if (account < 0 && !hasFreeSuspense(state)) return false\n', '  if (account < 0) return false\n'],
  ['programs/deposits.ts', 'SUSPENSE.COUNTED) !== 0 ? 0', 'SUSPENSE.COUNTED) >= 0 ? 0'],
  ['programs/chains.ts', 'return block <= known && block >= getF64', 'return block <= known + 1 && block >= getF64'],
  ['programs/chains.ts', 'DEPOSIT_BLOCK) > block) passDeposits', 'DEPOSIT_BLOCK) < block) passDeposits'],
  ['programs/chains.ts', 'getF64(state, id, DEPOSIT_ID.BLOCK) <= block', 'getF64(state, id, DEPOSIT_ID.BLOCK) < block'],
  ['programs/chains.ts', ' && block >= getF64(state, row, VAULT_CHAIN.LEFT)', ''],
  ['programs/settlement.ts', 'VAULT.CONFIRMED) >= OPEN_SETTLEMENTS_MAX', 'VAULT.CONFIRMED) > OPEN_SETTLEMENTS_MAX'],
  ['programs/settlement.ts', 'VAULT.THROUGH) + 1', 'VAULT.THROUGH)'],
  ['programs/settlement.ts', 'amount <= faucetOutstanding', 'amount <= 1n + faucetOutstanding'],
  ['orders/place.ts', 'emitSelfTrade(state, ~left)', 'emitSelfTrade(state, row)'],
  ['orders/sweep.ts', 'return agent < 0 || isGranted(', 'return agent >= -1 || isGranted('],
  ['orders/replace.ts', 'if (agent >= 0) markAgent(state, row, agent)', ''],
  ['book/pool.ts', 'countAgentOrder(state, get(state, row, ORDER.SLOT), -1)', 'countAgentOrder(state, get(state, row, ORDER.SLOT), 0)'],
  ['state/indexes.ts', '>= ((at - hole) & mask)', '> ((at - hole) & mask)'],
  ['ledger/spending.ts', 'registers[R.RESERVED]! > getI64', 'registers[R.RESERVED]! >= getI64'],
  ['ledger/spending.ts', 'registers[R.RESERVED]! <= registers[R.TAKEN]!', 'registers[R.RESERVED]! < registers[R.TAKEN]!'],
  ['ledger/spending.ts', 'registers[R.TAKEN] = registers[R.QUOTE]! + registers[R.TAKER_FEE]!', 'registers[R.TAKEN] = registers[R.QUOTE]!'],
  ['ledger/holds.ts', ' || payerOf(state, row) === payer', ''],
  ['book/match.ts', 'return payerOf(state, maker) === payerOf(state, taker)', 'return false'],
  ['ledger/spending.ts', '+ DAY_MS <= now(state)', '+ DAY_MS < now(state)'],
  ['ledger/spending.ts', '+ DAY_MS > now(state)', '+ DAY_MS >= now(state)'],
  ['orders/replace.ts', 'if (samePayer) state', 'if (row >= 0) state'],
  ['programs/spend_limits.ts', '=== midnight) return', '< 0) return'],
  ['ledger/settle.ts', 'if (funded) countFill(state, taker, maker)', ''],
  ['ledger/holds.ts', 'if (isFunded(state, row)) countRelease(state, row)', ''],
  ['programs/sub_accounts.ts', '=== master + 1', '!== 0'],
  // A family would take more than its share.
  ['programs/agents.ts', '    countForFamily(state, account, ACCOUNT.FAMILY_AGENTS)\n', ''],
  ['programs/spend_limits.ts', '  countForFamily(state, sub, ACCOUNT.FAMILY_LIMITS)\n', ''],
  ['state/shares.ts', 'return mayTake(get(', 'return used < capacity || mayTake(get('],
  // A row would go that has something, too early, or not wholly; or none would go.
  ['programs/faucet.ts', '    keepAccount(state, account)\n', ''],
  ['orders/place.ts', 'if (market) keepAccount(state, account)', ''],
  ['programs/agents.ts', '  keepAccount(state, account)\n', ''],
  ['programs/policy.ts', '  keepAccount(state, account)\n', ''],
  ['programs/sub_accounts.ts', '  keepAccount(state, master)\n', ''],
  ['programs/sub_accounts.ts', '  keepAccount(state, sub)\n', ''],
  ['programs/policy.ts', 'if (before < 1) findBlank(state)', ''],
  ['programs/blank_accounts.ts', '+ sessionLifetimeMs + KEY_KEPT_MS', '+ sessionLifetimeMs'],
  ['state/session_lists.ts', '  unlinkSession(state, session)\n  storeWord', '  storeWord'],
  // A wallet's list of sessions could grow without end.
  ['programs/sessions.ts', '  if (count >= 2 * limitOf(state, agent)) giveUpSession(state, oldestDead)\n', ''],
  ['state/session_lists.ts', '  releaseSession(state, session)\n  setExpiry(state, session, 0)', '  releaseSession(state, session)'],
  ['programs/blank_accounts.ts', '  unindexAccount(state, account)\n', ''],
  ['programs/blank_accounts.ts', '  keepAccount(state, account)\n  unlinkReferral', '  unlinkReferral'],
  ['programs/blank_accounts.ts', '  unlinkReferral(state, account)\n', ''],
  ['programs/sessions.ts', '  else useAccount(state, account)\n', ''],
  ['programs/sessions.ts', '.AGENT) - 1))\n  useAccount(state, account)', '.AGENT) - 1))'],
  ['programs/sessions.ts', 'if (get(state, row, SESSION.ACCOUNT) === NOBODY) return false', ''],
  ['events/emit.ts', '  copyTwo(state, row, ORDER.SEQUENCE, at)\n', ''],
  ['orders/place.ts', 'if ((flags & Flag.EXPIRES) !== 0) noteExpiry(', 'if (false) noteExpiry('],
  ['state/due.ts', 'exact ? second : first)', 'first)'],
  ['state/due.ts', '  rise(state, state.dueAt[place]!)\n', ''],
  ['state/due.ts', 'exact ? second : first)\n  sink(state, 1)\n', 'exact ? second : first)\n'],
  ['state/due.ts', 'Infinity\n  sink(state, 1)\n', 'Infinity\n'],
  // A deadline would not be taken away, fire again and again, or for ever be what it was first.
  ['orders/dead_man.ts', 'afterMs > 0 ? now(state) + afterMs : 0', 'now(state) + afterMs'],
  ['orders/dead_man.ts', '<= now(state)) setF64(state, row, ACCOUNT.DEADLINE, 0)', '<= 0) setF64(state, row, ACCOUNT.DEADLINE, 0)'],
  // Connections that an exchange lost when it ended would count for ever, or cancel at once.
  ['orders/dead_man.ts', '<= now(state)) setF64(state, connections', '<= 0) setF64(state, connections'],
  ['orders/cancel_on_disconnect.ts', 'now(state) + get(state, row, DISCONNECT.GRACE_MS)', 'now(state)'],
  ['orders/cancel_on_disconnect.ts', '    setF64(state, row, DISCONNECT.RETURN_BY, 0)\n', ''],
  ['orders/cancel_on_disconnect.ts', 'CONNECTIONS) - Math.max(0, connections)', 'CONNECTIONS) - 1'],
  ['state/due.ts', ' < before) rise(state, state.dueAt[place]!)\n  else sink', ' < before) sink(state, state.dueAt[place]!)\n  else sink'],
  ['state/due.ts', '  else sink(state, state.dueAt[place]!)\n', ''],
  // An agent could end more than it may; a connection that ended would count for another wallet, or be forgotten.
  ['orders/dead_man.ts', 'const lacking = agent < 0 ? 0 : lacksToCancelEverything(state, agent)', 'const lacking = 0'],
  ['programs/grants.ts', 'if (!mayTradeAll(state, agent)) return PAIR', ''],
  ['orders/dead_man.ts', ' && get(state, sessionRow(state, session), SESSION.ACCOUNT) === account', ''],
  ['orders/dead_man.ts', 'isAccount(state, account, command.f64[(base + at.fromSequence) >>> 1]!)', 'account >= 0'],
  // What goes on by itself would lose its place or its turn.
  ['orders/sweep.ts', ' || goesOnByItself(state, sweep.account))', ')'],
  ['orders/sweep_rows.ts', 'byItself ? SCALAR.SWEEPS_BY_ITSELF : SCALAR.SWEEPS_NEWEST', 'SCALAR.SWEEPS_NEWEST'],
  ['orders/sweep_rows.ts', '=== account + 1) setScalar(state, SCALAR.SWEEPS_BY_ITSELF', '< 0) setScalar(state, SCALAR.SWEEPS_BY_ITSELF'],
  ['orders/dead_man.ts', 'const isNew = !goesOnByItself(state, account)', 'const isNew = true'],
  ['orders/continue_cancel.ts', ' || goesOnByItself(state, account)', ''],
  // A slice of a TWAP order is too small, or trades beyond its limit; a mass cancel forgets what waits.
  ['orders/twap_schedule.ts', 'Math.max(least, Math.floor((even', 'Math.max(1, Math.floor((even'],
  ['orders/place.ts', 'origin === Origin.TWAP || origin === Origin.COPY ? read(command, base, C.price) : 0', '0'],
  ['orders/twap_slice.ts', 'return limit !== 0 && bid > limit ? limit : bid', 'return bid'],
  ['orders/dead_man.ts', 'newest < 0 && !waitsForAny(state, account)', 'newest < 0'],
  ['orders/sweep.ts', ' || (ended >= limit && hasWaiting(state, sweep, began))', ''],
  [
    'orders/sweep_waiting.ts', 'ended < limit; ended++) {\n    const following = nextTwap',
    'ended <= limit; ended++) {\n    const following = nextTwap',
  ],
  // A process of a maker that lost its lease would go on quoting, a lease that is over would hold, a stale claim would take it.
  ['programs/launches.ts', 'until <= now(state) || !holds(state, row, keyOf(state, command, base))', 'until <= now(state)'],
  ['programs/launches.ts', 'until <= now(state) || !holds', '!holds'],
  ['programs/launches.ts', '!holds(state, row, key) || !isOwner', '!isOwner'],
  ['programs/launches.ts', 'expected === getF64(state, row, LAUNCH.GENERATION)', 'expected >= 0'],
  ['orders/replace.ts', '  if (code === 0 && isTakenOver(state, command, base, row)) code = REFUSALS.LEASE_LOST.number\n', ''],
]

const RUNNER = `
import { duelApplications } from "./test/support/applications_duel.ts"
import { Differs, duel } from "./test/support/naive_compare.ts"
import { Scene } from "./test/support/scenario.ts"
const midnight = () => {
  // The very millisecond at which a day of a spend limit ends is too rare for chance.
  const scene = new Scene({})
  for (const line of ['ann 1000 USD', 'cat 10 BTC']) scene.give(line)
  const day = ['ann makes bob', 'ann limits bob to 1000 USD daily=150', 'cat sells 2 at 100', 'bob buys 1 at 100 funded', 'wait 6400']
  for (const step of day) scene.step(step)
  if (scene.time % 86400000 !== 0) throw new Error('it is not midnight')
  const said = scene.step('bob buys 1 at 100 funded')
  if (said !== 'FILLED') throw new Differs('at midnight: ' + said + ', FILLED is right')
}
// Variants, commands, seeds, and after how many commands all is checked: first after each, since a list that leads in circles must be
// seen before it is walked, then those that meet most faults, then those that each meet a rare one. A workload that draws otherwise
// meets others: look for new seeds then.
const runs = [
  ['tight', 1500, 50, 1], ['launches', 8000, 80],
  ['tight', 12000, 50], ['family', 12000, 50], ['olderFamily', 6000, 50], ['older', 6000, 50], ['visited', 5000, 50],
  ['olderVisited', 3000, 50], ['market', 6000, 50],
  ['builder', 14000, 70], ['builder', 8000, 71], ['referred', 10000, 73], ['referredVisitors', 12000, 74],
  ['referredVisitors', 2500, 116],
  ['vault', 12000, 100], ['vaultVisitors', 4000, 102], ['vault', 30000, 103, 500],
  ['fees', 4000, 50], ['tiers', 20000, 50], ['deep', 8000, 50], ['family', 10000, 69], ['market', 10000, 54], ['tiers', 10000, 53],
  ['crowded', 6000, 21], ['crowded', 6000, 23], ['tight', 8000, 44], ['tight', 8000, 47], ['older', 6000, 46],
  ['tiers', 1500, 88], ['older', 500, 629], ['older', 1200, 612], ['visited', 1000, 649],
  ['market', 2500, 118], ['older', 1000, 77], ['older', 600, 103],
  ['tiers', 2500, 66], ['olderFamily', 6000, 60], ['olderFamily', 6000, 62], ['market', 5000, 68], ['visited', 1000, 52],
  ['older', 600, 388], ['older', 1500, 119], ['older', 2500, 186], ['tiers', 1000, 77], ['tiers', 2000, 254],
  ['older', 400, 677], ['older', 1000, 744], ['tight', 500, 801], ['tiers', 1500, 785],
  ['tight', 40000, 50], ['market', 40000, 50],
]
const selling = [['market', 4000, 95], ['family', 4000, 95]]
const withDeadlines = [
  ['market', 8000, 50], ['tight', 8000, 50], ['visited', 8000, 50], ['family', 8000, 50], ['waiting', 8000, 50],
  ['waiting', 12000, 62],
]
try {
  midnight()
  duelApplications({ seed: 50, commands: 4000 })
  for (const [variant, commands, seed] of selling) duel({ variant, seed, commands, checkEvery: 50, sellsAll: true })
  for (const [variant, commands, seed] of withDeadlines) duel({ variant, seed, commands, checkEvery: 50, workload: { deadlines: true } })
  for (const [variant, commands, seed, checkEvery = 50] of runs) duel({ variant, seed, commands, checkEvery })
} catch (error) {
  console.log(error.message.split('\\n')[0])
  if (['Differs', 'InvariantBroken'].includes((error.cause ?? error).name)) process.exit(3)
  console.log((error.cause ?? error).stack)
  process.exit(4)
}
`

/** Seconds after which a copy is ended, which is a failure: it would say nothing of what differs. */
const COPY_SECONDS = 300

/** Runs the duel over a copy of the engine; its exit code (3: caught, null: it did not end) and what it said first. */
function runCopy(directory: string): { status: number | null; said: string } {
  const args = ['--disable-warning=ExperimentalWarning', 'runner.ts']
  // A handler for SIGTERM never runs in an endless loop.
  const options = { cwd: directory, env: {}, timeout: COPY_SECONDS * 1000, killSignal: 'SIGKILL', encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options)
  const silent = status === null ? 'did not end' : 'nothing noticed'
  return { status, said: stdout.trim() || stderr.trim().split('\n').at(-1) || silent }
}

t.test('faults in the source are caught', async (t) => {
  const seed = seedOf()
  t.comment(`seed ${seed}; again: SEED=${seed} npm test -- test/property/canary.test.ts`)
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-canary-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const parts = [
    'layout', 'lib', 'state', 'events', 'ledger', 'margin', 'book', 'programs', 'orders', 'liquidation', 'engine', 'view', 'ring',
    'sequencer',
  ]
  for (const part of parts) cpSync(join(ROOT, 'core', part), join(directory, 'core', part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  cpSync(join(ROOT, 'test/support'), join(directory, 'test/support'), { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
  writeFileSync(join(directory, 'runner.ts'), RUNNER)
  if (DEEP) t.strictSame(runCopy(directory), { status: 0, said: 'nothing noticed' }, 'the copy as it is passes')
  const chosen = FAULTS.filter(([, from]) => from.includes(process.env['FAULT'] ?? ''))
  const gone = chosen.filter(([file, from]) => !readFileSync(join(directory, 'core', file), 'utf8').includes(from))
  t.strictSame(gone, [], 'every fault has its place in the source; plant anew those that have none')
  const faults = shuffled(chosen.filter((fault) => !gone.includes(fault)), seed)
  const short = process.env['FAULT'] === undefined ? Math.min(SHORT, faults.length) : faults.length
  for (const each of eachRound(t, { short, deep: faults.length })) {
    if (each >= faults.length) break
    const [file, from, to] = faults[each]!
    const path = join(directory, 'core', file)
    const source = readFileSync(path, 'utf8')
    writeFileSync(path, source.replace(from, () => to))
    const { status, said } = runCopy(directory)
    t.equal(status, 3, `${file}: ${from} -> ${to || 'nothing'}: ${said.slice(0, status === 3 ? 160 : 1000)}`)
    writeFileSync(path, source)
  }
})
