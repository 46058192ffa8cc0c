/** A position on a perpetual of a running exchange whose price feed is on. */
import type { Client } from '../../gateway/client/index.ts'
import { pairOf } from './traders.ts'

export interface Opened {
  readonly tradingPairId: string
  readonly marginAccountId: string
  readonly riskBucketId: string
  readonly positionId: string
}

/** Waits for the first price of BTC/USDC-PERP, and opens a long position of `client` of 0.01 at 65,000; `other` is short. */
export async function openPosition(client: Client, other: Client): Promise<Opened> {
  const tradingPairId = await pairOf(client, 'BTC/USDC-PERP')
  for (const each of [client, other]) {
    const { accounts } = await each.ListMarginAccounts()
    await each.DepositCollateral({ marginAccountId: accounts[0]!.marginAccountId, amount: '2000' })
  }
  const order = { tradingPairId, tradingMode: 'MARGIN', orderType: 'LIMIT', quantity: '0.01', price: '65000', leverage: '5' } as const
  for (let asked = 0; asked < 400; asked++) {
    const { rejectCode } = await other.SimulateParentOrderRisk({ ...order, side: 'SELL' })
    if (rejectCode !== 'PRICE_STALE') break
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  await other.CreateOrder({ ...order, side: 'SELL' })
  await client.CreateOrder({ ...order, side: 'BUY' })
  const { positions } = await client.ListPositions()
  const { marginAccountId, riskBucketId, positionId } = positions[0]!
  return { tradingPairId, marginAccountId, riskBucketId, positionId }
}
