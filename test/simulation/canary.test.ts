/**
 * Promise: the simulation would notice. Faults are planted one at a time in a copy of the source: in the storage that
 * stands for LMDB, in the sequencer, in recovery, in the engine. Each must be found by a few short runs. A fault whose
 * place is no longer in the source fails too: plant it anew. `FAULT=TEXT` plants those whose name has this text.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { shuffled } from '../suite/files.ts'
import { CommandType } from '../../core/layout/command.ts'
import { DEEP, eachRound, seedOf } from '../suite/rounds.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Faults in `npm test`, besides the first two. */
const SHORT = 1
const SEEDS = 40
const TURNS = 300
const COPY_SECONDS = 200

interface Edit {
  readonly file: string
  readonly from: string
  readonly to: string
}

interface Fault extends Edit {
  readonly name: string
  readonly to: string
  /** The same fault in the naive exchange, so that only what the auditor knows itself can tell. */
  readonly twin?: Edit
}

const COMMIT = `  const bytes = writer.commit(state.clock[CLOCK.SEQUENCE]! + 1, time, commands, slots, sequencer.eventsChecksum)
  paceCopies(sequencer.timers.copies, meter.committed(bytes))
  applyBatch(sequencer, slots, time)`
const SYNC = `    this.#settle('none')
    reached(`
const WRITE = `    this.#file.write(end * PAGE, block)
    this.#file.sync()`
/** Commands of this type change nothing in a replay. */
const leftOut = (type: CommandType): Edit => ({
  file: 'core/recovery/replayer.ts', from: '      apply(state, views, at)\n',
  to: `      if ((views.u32[at]! & 0xff) !== ${type}) apply(state, views, at)\n      else state.clock[CLOCK.SEQUENCE]!++\n`,
})

/** Of margin trading: in the engine, in its timers, in what a start does about it, and in previews. */
const MARGIN_FAULTS: readonly Fault[] = [
  {
    name: 'funding is paid by one side only', file: 'core/margin/positions.ts',
    from: '    gain(state, bucket, RISK_BUCKET.REALIZED, R.FUNDING)\n',
    to: '    if (state.registers[R.FUNDING]! > 0n) gain(state, bucket, RISK_BUCKET.REALIZED, R.FUNDING)\n',
  },
  {
    name: 'a liquidation fee is lost', file: 'core/liquidation/liquidate.ts',
    from: '    addToFund(state, fund, CollateralReason.LIQUIDATION_FEE)\n', to: '',
  },
  {
    name: 'funding that was due in an outage is never paid', file: 'core/sequencer/margin_timers.ts',
    from: 'at !== 0 && at <= now', to: 'at !== 0 && at <= now && at > now - 2000',
  },
  {
    name: 'steps of liquidation are not journaled', file: 'core/sequencer/loop.ts', from: '  const timers = slots\n',
    to: `  if (slots === 1 && typeOfKind(batch.u32[0]!) === CommandType.LIQUIDATION_STEP) {
    setTime(state, time)
    apply(state, batch, slots = 0)
    state.outbox.count = 0
  }
  const timers = slots\n`,
  },
  { name: 'replay leaves index prices out', ...leftOut(CommandType.SET_INDEX_PRICE) },
  {
    name: 'guards are not built after a start', file: 'core/margin/guards.ts',
    from: 'most: number): boolean {\n', to: 'most: number): boolean {\n  if (most > 0) return true\n',
  },
  {
    name: 'a move of collateral forgets its key', file: 'core/programs/collateral.ts',
    from: '  if (keyed) keepReceipt(', to: '  if (!keyed) keepReceipt(',
  },
  {
    name: 'a preview leaves the fills that it supposed', file: 'core/orders/preview_walk.ts', from: '  putBack(state)\n', to: '',
  },
  {
    name: 'a preview is of fewer lots', file: 'core/sequencer/preview_answer.ts', from: 'record.i32[C.lots] = question[Q.LOTS]!',
    to: 'record.i32[C.lots] = (question[Q.LOTS]! + 1) >> 1',
  },
]

/** Of orders that wait: in the engine and in its timers. */
const WAITING_FAULTS: readonly Fault[] = [
  {
    name: 'what prices fire is not journaled', file: 'core/sequencer/loop.ts', from: '  const timers = slots\n',
    to: `  if (slots === 1 && typeOfKind(batch.u32[0]!) === CommandType.TRIGGER_STEP) {
    setTime(state, time)
    apply(state, batch, slots = 0)
    state.outbox.count = 0
  }
  const timers = slots\n`,
  },
  { name: 'conditional orders that fired in an outage fire again', ...leftOut(CommandType.TRIGGER_STEP) },
  {
    name: 'a TWAP order trades behind its end', file: 'core/orders/twap_slice.ts',
    from: 'if (now(state) >= getF64(state, row, TWAP.END_AT)) {', to: 'if (now(state) >= getF64(state, row, TWAP.END_AT) + 500) {',
  },
  {
    name: 'slices forget what others filled', file: 'core/orders/twap_slice.ts',
    from: 'const left = get(state, row, TWAP.LOTS) - get(state, row, TWAP.FILLED)', to: 'const left = get(state, row, TWAP.LOTS)',
  },
  {
    name: 'slices that were due in an outage never come', file: 'core/sequencer/timers.ts',
    from: 'else if (kind === DueKind.TWAP) slices++',
    to: 'else if (kind === DueKind.TWAP && (slices++ > 0 || getF64(state, twapRow(state, row), TWAP.NEXT_AT) < now - 1500)) continue',
  },
  {
    name: 'the other one of a pair stays', file: 'core/orders/trigger_step.ts', from: 'if (sibling !== 0) endConditional',
    to: 'if (sibling < 0) endConditional',
  },
]

/** Of the programs; of each one that its twin shares. */
const PROGRAM_FAULTS: readonly Fault[] = [
  { name: 'replay leaves builder fees out', ...leftOut(CommandType.SET_BUILDER_FEE) },
  {
    name: 'orders at rest pay what applications ask now', file: 'core/ledger/add_ons.ts',
    from: 'return get(state, own, (get(state, row, ORDER.FLAGS) & Flag.RESTING) !== 0 ? ADD_ON.MAKER_PPM : ADD_ON.TAKER_PPM)',
    to: 'return own < 0 ? 0 : addOnOf(state, get(state, row, ORDER.ACCOUNT), 0, (get(state, row, ORDER.FLAGS) & Flag.RESTING) !== 0)',
  },
  {
    name: 'the cap binds no application that asked before, nor in the twin', file: 'core/ledger/add_ons.ts',
    from: 'return (bps < cap ? bps : cap) * PPM_OF_BPS', to: 'return (cap < 0 ? cap : bps) * PPM_OF_BPS',
    twin: {
      file: 'test/support/naive_builder.ts',
      from: 'Math.min(ex.builder.cap, enrolled.bps) * 100, maker: Math.min(ex.builder.cap, enrolled.makerBps) * 100',
      to: 'enrolled.bps * 100, maker: enrolled.makerBps * 100',
    },
  },
  { name: 'replay leaves claims of leases out', ...leftOut(CommandType.CLAIM_LEASE) },
  {
    name: 'a lease is never over', file: 'core/programs/launches.ts',
    from: 'return until <= now(state) || !holds(', to: 'return !holds(',
  },
  {
    name: 'a generation goes to another process, and in the twin', file: 'core/programs/launches.ts',
    from: '    addF64(state, row, LAUNCH.GENERATION, 1)\n    addF64(state, row, LAUNCH.REVISION, 1)\n    setWords',
    to: '    addF64(state, row, LAUNCH.REVISION, 1)\n    setWords',
    twin: { file: 'test/support/naive_launches.ts', from: '    launch.generation++\n', to: '' },
  },
  { name: 'replay leaves steps of copies out', ...leftOut(CommandType.COPY_STEP) },
  {
    name: 'a copy takes no heed of the allocation', file: 'core/orders/copy_target.ts',
    from: '(BigInt(opened) * LOT * counted) / equity', to: '(BigInt(opened) * LOT * (counted + equity)) / equity',
  },
  {
    name: 'half of what an allocation is lessened by stays, and in the twin', file: 'core/programs/follows.ts',
    from: '  state.registers[R.AMOUNT] = more < 0n ? -more : more\n', to: '  state.registers[R.AMOUNT] = more < 0n ? -more / 2n : more\n',
    twin: {
      file: 'test/support/naive_copies.ts', from: 'const moved = more > 0n ? more : -more',
      to: 'const moved = more > 0n ? more : -more / 2n',
    },
  },
  { name: 'replay leaves transfers of rewards out', ...leftOut(CommandType.TRANSFER_REWARDS) },
  {
    name: 'the house earns the rebate of the maker too, and in the twin', file: 'core/ledger/fill_shares.ts',
    from: 'registers[R.M0] = registers[R.M0]! + registers[R.MAKER_FEE]!', to: 'registers[R.M0] = registers[R.M0]! - 0n',
    twin: { file: 'test/support/naive_builder.ts', from: 'taker.fee + (maker.fee < 0n ? maker.fee : 0n)', to: 'taker.fee' },
  },
]

/** Of money in and out. */
const VAULT_FAULTS: readonly Fault[] = [
  { name: 'replay leaves deposits out', ...leftOut(CommandType.CREDIT_DEPOSIT) },
  { name: 'replay leaves what the chain says of withdrawals out', ...leftOut(CommandType.ADVANCE_WITHDRAWAL) },
  {
    name: 'a paid withdrawal is given back as well', file: 'core/programs/withdrawals.ts',
    from: '  if (to === CONFIRMED) {\n', to: '  if (to < CONFIRMED) {\n',
  },
  {
    name: 'a deposit is credited with an atom more, and in the twin', file: 'core/programs/deposits.ts',
    from: 'state.registers[R.AMOUNT] = readI64(command, base, D.amount)',
    to: 'state.registers[R.AMOUNT] = readI64(command, base, D.amount) > 0n ? readI64(command, base, D.amount) + 1n : 0n',
    twin: {
      file: 'test/support/naive_deposits.ts', from: "  const amount = BigInt(command['amount']!)\n  if (!isBehind",
      to: "  const amount = BigInt(command['amount']!) > 0n ? BigInt(command['amount']!) + 1n : 0n\n  if (!isBehind",
    },
  },
  {
    name: 'a withdrawal forgets its key, and in the twin', file: 'core/programs/withdrawals.ts', from: '  if (keyed) keepReceipt(',
    to: '  if (!keyed) keepReceipt(',
    twin: {
      file: 'test/support/naive_vault.ts', from: 'ex.keep(command, account, answer(ex, command, made))', to: 'answer(ex, command, made)',
    },
  },
  {
    name: 'a deposit that a reorganisation moves is taken again, and in the twin', file: 'core/programs/chains.ts',
    from: '    set(state, id, DEPOSIT_ID.LOG_INDEX, MOVED)\n', to: '',
    twin: { file: 'test/support/naive_deposits.ts', from: 'each.log = MOVED', to: 'each.log += 0' },
  },
  {
    name: 'what is in suspense stays there when somebody gets it', file: 'core/programs/deposits.ts',
    from: '  freeSuspense(state, number)\n', to: '',
  },
]

const FAULTS: readonly Fault[] = [
  {
    name: 'the journal is never synced', file: 'test/simulation/disk.ts', from: SYNC,
    to: "    if (this.name !== 'journal/data') this.#settle('none')\n    reached(",
  },
  {
    name: 'answers before the sync', file: 'test/simulation/journal.ts', from: '    try {\n      this.#file.sync()',
    to: '    try {\n      if (meta.transaction % 3 === 0) this.#file.sync()',
  },
  {
    name: 'a batch is applied before its commit', file: 'core/sequencer/loop.ts', from: COMMIT,
    to: `  const [first, events] = [state.clock[CLOCK.SEQUENCE]! + 1, sequencer.eventsChecksum]
  applyBatch(sequencer, slots, time)
  meter.committed(writer.commit(first, time, commands, slots, events))`,
  },
  {
    name: 'the head record is not written', file: 'core/journal/writer.ts',
    from: '    encodeHead(own, 0, record)\n    database.putSync(HEAD_KEY, own)', to: '    encodeHead(own, 0, record)',
  },
  {
    name: 'a receipt is forgotten', file: 'core/programs/receipts.ts', from: 'export function keepReceipt(',
    to: 'export const keepReceipt = (...kept: Parameters<typeof keep>): void => { if (kept[1] !== 2) keep(...kept) }\nfunction keep(',
  },
  {
    name: 'a follower skips a batch', file: 'core/recovery/snapshotter.ts', from: '        settling.take(batch)\n',
    to: `        if (batch.sequence % 9 > 0) settling.take(batch)
        else Object.assign(replayer.place, { sequence: batch.next, checksum: batch.checksum })\n`,
  },
  {
    name: 'recovery skips a batch', file: 'core/recovery/recover.ts', from: '    replayer.batch(batch)\n    records += batch.commands',
    to: `    if (batch.sequence % 9 > 0) replayer.batch(batch)
    else Object.assign(replayer.place, { sequence: batch.next, checksum: batch.checksum })\n    records += batch.commands`,
  },
  {
    name: 'a command is taken from its ring twice', file: 'core/sequencer/lanes.ts', from: 'if (taken > 0) consume(ring, taken)',
    to: 'if (taken > 0) consume(ring, taken > 2 ? taken - 1 : taken)',
  },
  {
    name: 'answers are published before they are whole', file: 'core/sequencer/lanes.ts',
    from: '    publish(lane.replies, lane.unpublished)', to: '    publish(lane.replies, lane.unpublished + (lane.unpublished >> 2))',
  },
  { name: 'the journal is not synced before its meta page', file: 'test/simulation/journal.ts', from: WRITE, to: WRITE.split('\n')[0]! },
  { name: 'replay forgets the time', file: 'core/recovery/replayer.ts', from: '    setTime(state, batch.time)\n', to: '' },
  {
    name: 'a snapshot is named before it is synced', file: 'test/simulation/snapshots.ts', from: '    file.sync()\n', to: '',
  },
  {
    name: 'a snapshot says another batch', file: 'core/recovery/snapshotter.ts', from: 'genesis, replayer.place.checksum,',
    to: 'genesis, replayer.place.checksum ^ 1,',
  },
  {
    name: 'a failed commit is passed over', file: 'core/journal/writer.ts', from: 'database.transactionSync(write)',
    to: 'try { database.transactionSync(write) } catch { /* passed over */ }',
  },
  {
    name: 'the history forgets an event', file: 'core/history/project/projection.ts', from: 'projector.project(views, count)',
    to: 'projector.project(views, count > 9 ? count - 1 : count)',
  },
  {
    name: 'the history is behind its position', file: 'core/history/project/projection.ts', from: '      replayer.batch(batch)\n',
    to: `      if (batch.sequence % 9 > 0) replayer.batch(batch)
      else Object.assign(replayer.place, { sequence: batch.next, checksum: batch.checksum })\n`,
  },
  {
    name: 'an older journal is gone on with', file: 'core/sequencer/matcher.ts',
    from: '  if (shortfall === null) return null\n', to: '  if (shortfall === null || accepted === 0) return null\n',
  },
  {
    name: 'a loss is accepted without a word of it', file: 'core/sequencer/matcher.ts',
    from: 'committing(() => writeLoss(journal, writer, replayer, loss.known))', to: 'loss.known',
  },
  {
    name: 'sequences that are lost are given out again', file: 'core/recovery/loss.ts',
    from: 'const resume = known + SEQUENCES_SKIPPED', to: 'const resume = known',
  },
  {
    name: 'a cut takes the batch before it too', file: 'core/recovery/recover.ts',
    from: '  dropLast(database)\n  return cut - 1', to: '  dropLast(database)\n  dropLast(database)\n  return cut - 1',
  },
  {
    name: 'a snapshot of what is lost is gone on with', file: 'core/recovery/recover.ts',
    from: "  if (continued !== 'yes') throw", to: "  if (continued === 'archived') throw",
  },
  {
    name: 'a gateway tells another order than it was told', file: 'gateway/bridge/engine_client.ts',
    from: '  pending?.onResult(records, base,',
    to: '  if (engine.gateway === 1) records.f64[(base + RESULT.at.orderSequence) >>> 1]! += base & 32 ? 1 : 0\n'
      + '  pending?.onResult(records, base,',
  },
  ...MARGIN_FAULTS, ...WAITING_FAULTS, ...PROGRAM_FAULTS, ...VAULT_FAULTS,
]

const RUNNER = `
import { trial } from "./test/simulation/simulate.ts"
for (let seed = 1; seed <= ${SEEDS}; seed++) {
  const failure = trial(seed, ${TURNS}, 0)
  if (failure === null) continue
  console.log('seed ' + seed + ', turn ' + failure.turns + ': ' + failure.message.split('\\n')[0])
  process.exit(3)
}
`

const editsOf = (fault: Fault): Edit[] => [fault, ...(fault.twin === undefined ? [] : [fault.twin])]

/** Runs the simulation in a copy; its exit code (3: a violation was found; null: it did not end) and what it said. */
function runCopy(directory: string): { status: number | null; said: string } {
  const args = ['--disable-warning=ExperimentalWarning', 'runner.ts']
  const options = { cwd: directory, env: {}, timeout: COPY_SECONDS * 1000, killSignal: 'SIGKILL', encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options)
  return { status, said: stdout.trim() || stderr.trim().split('\n').slice(-8).join(' ') || 'nothing noticed' }
}

t.test('planted faults are found', async (t) => {
  const seed = seedOf()
  t.comment(`seed ${seed}; again: SEED=${seed} npm test -- test/simulation/canary.test.ts`)
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-simulation-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  for (const part of ['core', 'gateway', 'test/support', 'test/simulation']) {
    cpSync(join(ROOT, part), join(directory, part), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
  writeFileSync(join(directory, 'runner.ts'), RUNNER)
  if (DEEP) t.strictSame(runCopy(directory), { status: 0, said: 'nothing noticed' }, 'the copy as it is passes')
  const chosen = FAULTS.filter(({ name }) => name.includes(process.env['FAULT'] ?? ''))
  const isThere = ({ file, from }: Edit): boolean => readFileSync(join(directory, file), 'utf8').includes(from)
  const gone = chosen.filter((fault) => !editsOf(fault).every(isThere))
  t.strictSame(gone.map(({ name }) => name), [], 'every fault has its place in the source')
  const faults = [...chosen.slice(0, 2), ...shuffled(chosen.slice(2), seed)].filter((fault) => !gone.includes(fault))
  const short = process.env['FAULT'] === undefined ? Math.min(2 + SHORT, faults.length) : faults.length
  for (const each of eachRound(t, { short, deep: faults.length })) {
    if (each >= faults.length) break
    const fault = faults[each]!
    const sources = editsOf(fault).map(({ file, from, to }) => {
      const path = join(directory, file)
      const source = readFileSync(path, 'utf8')
      writeFileSync(path, source.replace(from, () => to))
      return { path, source }
    })
    const { status, said } = runCopy(directory)
    t.equal(status, 3, `${fault.name}: ${said.slice(0, status === 3 ? 160 : 1000)}`)
    for (const { path, source } of sources) writeFileSync(path, source)
  }
})
