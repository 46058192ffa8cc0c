/**
 * The real matcher thread without gateways: commands go straight into a lane. For benches of journal, snapshot and replay that need
 * more commands than signatures allow.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../core/config.ts'
import { MINT_COMMAND, OPEN_SESSION_COMMAND, CommandType, kindOf } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { encode, type Decoded, type Layout } from '../../core/layout/table.ts'
import { startQuickThread } from '../../core/lib/quick_thread.ts'
import { createBroadcast } from '../../core/ring/broadcast.ts'
import { countersBytes, matcherCounters, STOP } from '../../core/ring/counters.ts'
import { portsBytes } from '../../core/ring/ports.ts'
import { attachQuestions, createQuestions, type Cell } from '../../core/ring/questions.ts'
import { attachRing, available, consume, createRing, front, publish, reserve, type Ring } from '../../core/ring/spsc.ts'
import { WAIT_WORDS, wake } from '../../core/ring/wait.ts'
import type { FromThread, Lane } from '../../core/threads.ts'

export interface Matcher {
  readonly commands: Ring
  readonly replies: Ring
  readonly counters: Float64Array
  /** Where a gateway asks what stands between two batches. */
  readonly questions: Cell
  /** Sends one command and waits for its answer; commands of the operator go through lane 0, whose answers nobody else reads. */
  ask(layout: Layout, values: Decoded, lane?: 0 | 1): { code: number; session: number; generation: number }
  /** Wakes the matcher after a publish. */
  wake(): void
  stop(): Promise<void>
}

/** A genesis whose faucet hands out enough for millions of orders. */
export const RICH_GENESIS = {
  name: 'bench',
  chainId: 1328,
  limits: {
    orders: 1 << 20,
    accounts: 4096,
    sessions: 4096,
    receipts: 1024,
    openOrdersPerAccount: 1_000_000,
    priceTicks: 1 << 20,
    sessionLifetimeMs: 86_400_000,
    receiptLifetimeMs: 86_400_000,
    orderLifetimeMs: 7_776_000_000,
  },
  faucet: { dailyLimit: 5 },
  assets: [
    { id: 'q', symbol: 'USDC', token: '0x1', decimals: 6, scale: 6, faucetAmount: '1000000000' },
    { id: 'b', symbol: 'BTC', token: '0x2', decimals: 8, scale: 8, faucetAmount: '10000000' },
  ],
  pairs: [
    {
      id: 'p',
      symbol: 'BTC/USDC',
      base: 'BTC',
      quote: 'USDC',
      tickSize: '0.1',
      lotSize: '0.0001',
      minOrderSize: '0.0001',
      maxOrderSize: '100000',
      minNotional: '0',
      makerFeeBps: '-0.5',
      takerFeeBps: '5',
      marketType: 'SPOT',
    },
  ],
  applications: [{ id: 'a', name: 'bench', clientId: 'bench' }],
}

export async function startMatcher(directory: string, kept: object = RICH_GENESIS): Promise<Matcher> {
  mkdirSync(join(directory, 'journal'), { recursive: true })
  const genesis = join(directory, 'genesis.json')
  writeFileSync(genesis, JSON.stringify(kept))
  const config = readConfig(['--data-dir', directory, '--genesis', genesis], {})!
  const cell = (): SharedArrayBuffer => new SharedArrayBuffer(WAIT_WORDS * 4)
  const lane = (): Lane => ({
    commands: createRing(8192).buffer,
    replies: createRing(16384).buffer,
    wait: cell(),
    questions: createQuestions(),
  })
  const shared = {
    gate: cell(),
    events: createBroadcast(65536).buffer,
    counters: new SharedArrayBuffer(countersBytes(1)),
    ports: new SharedArrayBuffer(portsBytes(1)),
    matcherWait: cell(),
    lanes: [lane(), lane()],
  }
  const entry = join(import.meta.dirname, '..', '..', 'core', 'sequencer', 'thread.ts')
  const worker = startQuickThread(entry, { workerData: { config, shared } })
  const said = (type: FromThread['type']): Promise<void> =>
    new Promise((resolve, reject) => {
      worker.on('message', (message: FromThread) => {
        if (message.type === type) resolve()
        if (message.type === 'fatal') reject(new Error(message.message))
      })
    })
  await said('recovered')
  const ends = (lane: Lane): Pick<Matcher, 'commands' | 'replies'> =>
    ({ commands: attachRing(lane.commands), replies: attachRing(lane.replies) })
  const [operator, gateway] = [ends(shared.lanes[0]!), ends(shared.lanes[1]!)]
  const sleeper = new Int32Array(shared.matcherWait)
  const wakeMatcher = (): void => wake(sleeper)
  return {
    ...gateway,
    counters: matcherCounters(shared.counters),
    wake: wakeMatcher,
    questions: attachQuestions(shared.lanes[1]!.questions),
    ask: (layout, values, through = 1) => {
      const { commands, replies } = through === 1 ? gateway : operator
      encode(layout, commands.slots, reserve(commands, 0), values)
      publish(commands, 1)
      wakeMatcher()
      while (available(replies) === 0);
      const at = front(replies, 0)
      const { i32 } = replies.slots
      const result = { code: i32[at + RESULT.at.code]!, session: i32[at + RESULT.at.detail]!, generation: i32[at + RESULT.at.detail2]! }
      consume(replies, 1)
      return result
    },
    stop: async () => {
      const stopped = said('stopped')
      Atomics.store(new Int32Array(shared.gate), STOP, 1)
      wakeMatcher()
      await stopped
    },
  }
}

/** Opens `count` funded accounts; their sessions. */
export function openAccounts(matcher: Matcher, count: number): { session: number; generation: number }[] {
  return Array.from({ length: count }, (_, i) => {
    const hex = (i + 1).toString(16)
    const opened = matcher.ask(OPEN_SESSION_COMMAND, {
      kind: kindOf(CommandType.OPEN_SESSION, 1, 1),
      session: -1,
      address: hex.padStart(40, '0'),
      publicKey: hex.padStart(64, '0'),
    })
    const { session, generation } = opened
    for (let mint = 0; mint < 2; mint++) {
      const { code } = matcher.ask(MINT_COMMAND, {
        kind: kindOf(CommandType.MINT, 1, 1),
        session,
        sessionGeneration: generation >>> 0,
        asset: -1,
      })
      if (code !== 0) throw new Error(`mint refused: ${code}`)
    }
    return { session, generation }
  })
}
