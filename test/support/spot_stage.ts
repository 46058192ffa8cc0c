/** One spot pair of the engine, for orders of wallets by name. One lot at one tick is 0.001 USD; the least order is 0.50 USD. */
import { COMMAND_LAYOUTS, COMMAND_SLOTS, CommandType, Flag, kindOf } from '../../core/layout/command.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { RULES } from '../../core/state/rules.ts'
import type { State } from '../../core/state/state.ts'
import { createBench, type Bench } from './naive_compare.ts'
import { decodeEvent } from './naive_events.ts'
import { HOUR_0 } from './perp_stage.ts'
import { genesisText, pairSpec } from './variants.ts'

export class SpotStage {
  readonly bench: Bench
  time = HOUR_0 + 5000
  private readonly sessions = new Map<string, Decoded>()

  constructor(rules = RULES) {
    this.bench = createBench(genesisText({
      limits: {}, dailyLimit: 5, rules, assets: [['USD', 6, '1000000'], ['BTC', 8, '1000']],
      pairs: [pairSpec('BTC/USD', { tickSize: '1', minNotional: '0.5' })],
    }))
  }

  get state(): State {
    return this.bench.state
  }

  /** The answer to one command. */
  send(type: CommandType, values: Decoded, lane = 0): Decoded {
    const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
    encode(COMMAND_LAYOUTS[type]!, command, 0, { session: -1, ...values, kind: kindOf(type, 1, lane) })
    return decodeEvent(this.bench.said, (this.bench.run(command, 0, this.time) - 1) * RECORD_WORDS)
  }

  /** What a command of the wallet begins with; it signs in first. */
  signed(name: string): Decoded {
    const hex = (bytes: number): string => Buffer.from(name).toString('hex').padEnd(bytes * 2, '0')
    if (!this.sessions.has(name)) {
      const { detail, detail2 } = this.send(CommandType.OPEN_SESSION, { address: hex(20), publicKey: hex(32) }, 1)
      this.sessions.set(name, { session: detail!, sessionGeneration: detail2! })
      this.send(CommandType.MINT, { ...this.sessions.get(name), asset: -1 }, 1)
    }
    return this.sessions.get(name)!
  }

  /** A LIMIT order, which must be taken: positive lots buy. */
  order(name: string, lots: number, price: number): void {
    const terms = { pair: 0, price, lots: Math.abs(lots), flags: lots < 0 ? Flag.SELL : 0 }
    const { code } = this.send(CommandType.PLACE_ORDER, { ...this.signed(name), ...terms }, 1)
    if (code !== 0) throw new Error(`order of ${name}: ${String(code)}`)
  }
}
