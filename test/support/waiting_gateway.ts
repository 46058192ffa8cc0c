/** Gateways with perpetuals on which time and prices act, over REST and gRPC, for tests of orders that wait over the wire. */
import type { Pair } from '../../core/state/genesis.ts'
import { CommandType, SET_MAINTENANCE_COMMAND, SET_PAIR_STATUS_COMMAND, PairStatus } from '../../core/layout/command.ts'
import { CollateralMove, MOVE_COLLATERAL_COMMAND } from '../../core/layout/margin.ts'
import { RESULT } from '../../core/layout/event.ts'
import { startHarness, testGenesis, type Harness, type Historian, type Session } from './gateway_harness.ts'
import { connectGrpc } from './grpc.ts'
import { setIndexPrice } from './margin_stage.ts'
import { grpcTransport, restTransport, type Json, type Transport } from './transports.ts'

export interface WaitingGateway {
  readonly harness: Harness
  readonly rest: Transport
  readonly transports: Readonly<Record<'REST' | 'gRPC', Transport>>
  readonly perp: Pair
  readonly spot: Pair
  /** Sets the index price of the perpetual, and with it the mark; whole units of the quote. */
  price(units: number): Promise<void>
  /** Somebody with 10,000 units, 8,000 of them collateral. */
  trader(): Promise<Session>
  /** A LIMIT order of the perpetual. */
  order(side: 'BUY' | 'SELL', quantity: string, limit: string, more?: Json): Json
  /** A long position of 0.1 at 60,000 of somebody, whose order said `more`; somebody else is short. */
  opened(more?: Json): Promise<{ readonly long: Session; readonly short: Session; readonly positionId: string; readonly placed: Json }>
  maintenance(on: number): Promise<void>
  /** Does it while no order of the perpetual may even be cancelled. */
  halted(act: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

/** An answer that is no refusal. */
export function must(outcome: Json): Json {
  if (outcome['refused'] !== undefined) throw new Error(JSON.stringify(outcome))
  return outcome
}

/** Waits until it holds; false: it does not. */
export async function eventually(holds: () => Promise<boolean>): Promise<boolean> {
  for (let asked = 0; asked < 1000; asked++) {
    if (await holds()) return true
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return false
}

export async function waitingGateway(historian?: Historian, limits: Record<string, number> = {}): Promise<WaitingGateway> {
  const harness = await startHarness(['--grpc-thread', '1'], testGenesis(limits, true), historian, undefined, true)
  const client = connectGrpc(harness.grpcPort)
  const rest = restTransport(harness.port)
  const perp = harness.genesis.pairs.find(({ symbol }) => symbol === 'BTC/USDC-PERP')!
  const price = (units: number): Promise<void> => setIndexPrice(harness, perp, units)
  const trader = async (): Promise<Session> => {
    const session = await harness.openSession()
    must(await rest('Mint', {}, session))
    const record = await harness.operate(CommandType.MOVE_COLLATERAL, MOVE_COLLATERAL_COMMAND, {
      session: session.row, sessionGeneration: session.generation, move: CollateralMove.DEPOSIT, marginAccount: -1, bucket: -1,
      amount: 8_000_000_000n,
    })
    if (record[RESULT.at.code] !== 0) throw new Error(`deposit: ${record[RESULT.at.code]}`)
    return session
  }
  const order: WaitingGateway['order'] = (side, quantity, limit, more = {}) => ({
    tradingPairId: perp.id, tradingMode: 'MARGIN', orderType: 'LIMIT', side, quantity, price: limit, leverage: '10', ...more,
  })
  const status = (to: number): Promise<unknown> =>
    harness.operate(CommandType.SET_PAIR_STATUS, SET_PAIR_STATUS_COMMAND, { session: -1, pair: perp.index, status: to })
  return {
    harness, rest, perp, price, trader, order, spot: harness.genesis.pairs[0]!,
    transports: { REST: rest, gRPC: grpcTransport(client) },
    opened: async (more = {}) => {
      const [long, short] = [await trader(), await trader()]
      await price(60_000)
      must(await rest('CreateOrder', order('SELL', '0.1', '60000'), short))
      const placed = must(await rest('CreateOrder', order('BUY', '0.1', '60000', more), long))
      const { positions } = must(await rest('ListPositions', {}, long))
      return { long, short, placed, positionId: positions[0].positionId }
    },
    maintenance: async (on) => void (await harness.operate(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { session: -1, on })),
    halted: async (act) => {
      await status(PairStatus.HALTED)
      await act()
      await status(PairStatus.ACTIVE)
    },
    close: async () => {
      client.close()
      await harness.close()
    },
  }
}
