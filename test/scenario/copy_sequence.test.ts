/**
 * Promise: what a follow copies is decided by the sequence: of a fill and a follow, or its end, in one batch, the earlier comes first. A
 * leader with many followers stalls nobody: one fill is worked off in commands of which each enters one order at most, leaders take turns,
 * and a turn has no more of them than goes with the time of its commit.
 * After a restart in the middle mirroring goes on as if there had been none. Figures: support/copy_stage.ts.
 */
import t from 'tap'
import { firstLead, leadOf } from '../../core/margin/leads.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { COPY_ACCOUNT, LEAD } from '../../core/state/copy_rows.ts'
import { copyAccountRow, get, leaderRow } from '../../core/state/rows.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { COPIES_LEAST, COPIES_MAX, createCopyTimers, PACE_US, paceCopies } from '../../core/sequencer/copy_timers.ts'
import { createTimers, writeDue } from '../../core/sequencer/timers.ts'
import { commandName, typeOfKind } from '../../core/layout/command.ts'
import { RECORD_BYTES, RECORD_WORDS, viewsOf } from '../../core/layout/table.ts'
import type { State } from '../../core/state/state.ts'
import { benchOf } from '../support/naive_compare.ts'
import { copyStored } from '../support/recording.ts'
import { CopyStage } from '../support/copy_stage.ts'

function stageOf(followers = 0, leaders = ['lea']): CopyStage {
  const stage = new CopyStage({ maxPositionSize: '100000' }, { accounts: 512, marginAccounts: 1024, riskBuckets: 1024, positions: 1024 })
  stage.checks = followers < 20
  stage.deposit('mia', 900_000)
  stage.order('mia', -800, 1001, { leverage: 100 })
  stage.order('mia', 800, 999, { leverage: 100 })
  for (const leader of leaders) {
    stage.deposit(leader, 10_000)
    stage.register(leader)
    for (let each = 0; each < followers; each++) {
      stage.deposit(`${leader}${each}`, 5000)
      stage.follow(`${leader}${each}`, leader, 5000)
    }
  }
  return stage
}

t.test('a fill and a follow in one batch: the earlier comes first', async (t) => {
  const stage = stageOf()
  for (const name of ['fay', 'gil']) stage.deposit(name, 5000)
  // Nothing of the sequencer comes between.
  stage.follow('fay', 'lea', 5000)
  stage.market('lea', 8)
  stage.follow('gil', 'lea', 5000)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED 4'])
  stage.market('lea', 8)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED 4', 'gil ACTIVE COPIED 4'], 'the oldest follow first')
})

t.test('a fill and the end of a follow in one batch: nothing is opened behind the stop, whatever was still to be mirrored', async (t) => {
  const stage = stageOf()
  for (const name of ['fay', 'gil']) {
    stage.deposit(name, 5000)
    stage.follow(name, 'lea', 5000)
  }
  stage.market('lea', 8)
  stage.mirrored()
  stage.stop('gil')
  stage.market('lea', 8)
  stage.stop('fay')
  t.same(stage.mirrored(), ['fay STOPPING CLOSED -4', 'fay STOPPED STOPPED', 'gil STOPPING CLOSED -4', 'gil STOPPED STOPPED'])
})

t.test('a stop of the follow where a walk stands: the walk goes on behind it, and comes to everybody else', async (t) => {
  for (const [stopped, again] of [['lea1', false], ['lea3', false], ['lea1', true], ['lea3', true]] as const) {
    const stage = stageOf(4)
    // The walk itself is held against what is told, not by the invariants.
    stage.checks = false
    const told = (): string[] => stage.timed().told.filter((line) => line.includes('COPIED'))
    const lead = leadOf(stage.state, leaderRow(stage.state, 0), 1)
    const at = (): number => get(stage.state, lead, LEAD.CURSOR) - 1
    stage.market('lea', 8)
    t.same(told(), ['lea0 ACTIVE COPIED 4'])
    if (stopped === 'lea3') t.same(told(), ['lea1 ACTIVE COPIED 4', 'lea2 ACTIVE COPIED 4'])
    t.equal(at(), stopped === 'lea1' ? 1 : 3, 'it stands at who stops now')
    if (again) stage.market('lea', 8)
    t.equal(stage.stop(stopped), '')
    // Behind the last one the walk is over, and the next one has not begun.
    t.equal(at(), stopped === 'lea1' ? 2 : -1)
    t.equal(firstLead(stage.state) >= 0, stopped === 'lea1' || again)
    stage.mirrored()
    for (const name of ['lea0', 'lea1', 'lea2', 'lea3'].filter((each) => each !== stopped)) {
      t.equal(stage.copied(name), again ? 8 : 4, `${name}, when ${stopped} stops`)
    }
    t.equal(get(stage.state, copyAccountRow(stage.state, stage.account(stopped)), COPY_ACCOUNT.FOLLOWS), 0)
  }
})

t.test('a fill while others of the leader are being mirrored goes to everybody once', async (t) => {
  const stage = stageOf(40)
  stage.market('lea', 8)
  for (let turn = 0; turn < 3; turn++) stage.timed()
  t.ok(firstLead(stage.state) >= 0, 'in the middle')
  stage.market('lea', 8)
  stage.mirrored()
  for (let each = 0; each < 40; each++) t.equal(stage.copied(`lea${each}`), 8)
})

t.test('one fill of a leader is worked off in turns that begin small, and leaders take turns', async (t) => {
  const stage = stageOf(150, ['lea', 'ole'])
  for (const leader of ['lea', 'ole']) stage.market(leader, 4)
  stage.commits((40 * PACE_US) / 1e6)
  const turns: number[] = []
  const first = new Map<string, number>()
  let orders = 0
  while (firstLead(stage.state) >= 0) {
    const { commands, told } = stage.timed()
    turns.push(commands)
    for (const each of told.filter((line) => line.includes(' COPIED '))) {
      if (!first.has(each.slice(0, 3))) first.set(each.slice(0, 3), orders)
      orders++
    }
  }
  t.same(turns.slice(0, 8), [1, 2, 4, 8, 16, 32, 40, 40])
  t.ok(turns.every((commands) => commands <= 40))
  t.equal(orders, 300)
  t.same([...first.values()], [0, 1], 'the other one is next')
})

t.test('a turn mirrors as much as commits are long, within bounds; one long commit alone changes nothing', async (t) => {
  const timers = createCopyTimers()
  t.equal(timers.most, COPIES_LEAST)
  const most = (microseconds: number): number => {
    paceCopies(timers, microseconds / 1e6)
    return timers.most
  }
  most(30 * PACE_US)
  t.same([300, 30, 1, 30, 30].map((times) => most(times * PACE_US)), [30, 30, COPIES_LEAST, COPIES_LEAST, 30])
  t.same([1e6, 1e6].map(most), [30, COPIES_MAX])
})

/** Turns of the timers until nothing is to be mirrored; a new sequencer each time, as after a start. */
function goOn(state: State, time: number): string[] {
  const bench = benchOf(state)
  const batch = viewsOf(new ArrayBuffer(64 * RECORD_BYTES))
  const timers = createTimers()
  const commands: string[] = []
  while (firstLead(state) >= 0) {
    const used = writeDue(timers, state, time, batch, 0, 64)
    for (let slot = 0; slot < used; slot++) {
      commands.push(commandName(typeOfKind(batch.u32[slot * RECORD_WORDS]!)))
      bench.run(batch, slot * RECORD_WORDS, time)
    }
  }
  return commands
}

t.test('a restart in the middle goes on where it was', async (t) => {
  const stage = stageOf(30)
  stage.market('lea', 8)
  for (let turn = 0; turn < 3; turn++) stage.timed()
  const copy = copyStored(stage.text, stage.state)
  t.equal(stateDigest(copy.state), stateDigest(stage.state))
  // Both have the same commands from here on.
  const commands = goOn(copy.state, stage.time)
  t.ok(commands.length > 0 && commands.every((name) => name === 'COPY_STEP'))
  goOn(stage.state, stage.time)
  t.equal(copy.state.clock[CLOCK.SEQUENCE], stage.state.clock[CLOCK.SEQUENCE])
  t.equal(stateDigest(copy.state), stateDigest(stage.state))
  for (let each = 0; each < 30; each++) t.equal(stage.copied(`lea${each}`), 4)
})
