/** One request of every operation that a session signs, out of the operation table: a new operation is tested by existing. */
import type { Genesis } from '../../core/engine/genesis.ts'
import { TABLE, type Row } from '../../gateway/operations/table.ts'

export interface Sample {
  readonly name: string
  readonly row: Row
  readonly target: string
  /** JSON, '' without one. */
  readonly body: string
}

const ORDER_ID = '00000000-0005-8001-8000-00001f2a335e'

/** An order that rests. */
export const sampleOrder = (genesis: Genesis): Record<string, string> =>
  ({ tradingPairId: genesis.pairs[0]!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.1', price: '100' })

export function sessionSamples(genesis: Genesis): Sample[] {
  const order = sampleOrder(genesis)
  const bodies: Record<string, unknown> = {
    CreateOrder: order, ReplaceOrder: { price: '101' }, BatchCreateOrders: { orders: [order] }, BatchCancelAllOrders: {}, Mint: {},
  }
  return Object.entries(TABLE as Record<string, Row>)
    .filter(([, row]) => row.access === 'session')
    .map(([name, row]) => ({
      name, row,
      target: row.path.replace('{orderId}', ORDER_ID).replace('{assetId}', genesis.assets[0]!.id),
      body: bodies[name] === undefined ? '' : JSON.stringify(bodies[name]),
    }))
}

const ORDER_OF_GROUP = 2n ** 252n + 27742317777372353535851937790883648493n

/** The same ed25519 signature with S + L: verifiers that do not insist on canonical S accept it. */
export function malleated(signature: Buffer): Buffer {
  const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + ORDER_OF_GROUP
  return Buffer.concat([signature.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()])
}
