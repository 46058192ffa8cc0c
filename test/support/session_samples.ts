/**
 * One request of every operation that a session signs. A row of the operation table without an input here fails every security table, so
 * that no operation escapes them.
 */
import type { Genesis } from '../../core/state/genesis.ts'
import {
  agentId, conditionalOrderId as conditionalId, followId, marginAccountId as marginId, positionId as idOfPosition, riskBucketId as bucketId,
  tradeId, twapOrderId as twapId, userId, withdrawalId,
} from '../../core/layout/ids.ts'
import { TABLE, type OperationName } from '../../gateway/operations/index.ts'
import type { Row } from '../../gateway/operations/row.ts'
import { encodeMessage, pathOf, typeOf } from './grpc.ts'
import { GROUP_ORDER, joined, little, numberOf } from './hostile_vectors.ts'
import { messageOf, restRequest, type Json } from './transports.ts'

export interface Sample {
  readonly name: OperationName
  readonly row: Row
  /** Path, query and body fields together. */
  readonly input: Json
  readonly target: string
  /** JSON, '' without one. */
  readonly body: string
  /** Path and message of the same over gRPC. */
  readonly grpcPath: string
  readonly bytes: Buffer
}

/** Well-formed ids of nothing. */
export const NO_ORDER = '00000000-0005-8001-8000-00001f2a335e'
export const NO_USER = userId(5, 1000)
export const NO_AGENT = agentId(5, 1000)
export const NO_MARGIN = marginId(5, 1000)
export const NO_BUCKET = bucketId(5, 1000)
export const NO_POSITION = idOfPosition(5, 1000)
export const NO_CONDITIONAL = conditionalId(5, 1)
export const NO_TWAP = twapId(5, 1000)
export const NO_FOLLOW = followId(5, 1000)
export const NO_WITHDRAWAL = withdrawalId(5, 1000)
export const NO_TRADE = tradeId(5, 1000)

/** An order that rests. */
export const sampleOrder = (genesis: Genesis): Record<string, string> =>
  ({ tradingPairId: genesis.pairs[0]!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.1', price: '100' })

/** Inputs of margin trading. The pair is a perpetual where the document has one. */
function marginInputs(genesis: Genesis): Partial<Record<OperationName, Json>> {
  const pair = genesis.pairs.find(({ perp }) => perp !== null) ?? genesis.pairs[0]!
  const [marginAccountId, riskBucketId, positionId] = [NO_MARGIN, NO_BUCKET, NO_POSITION]
  const preview = { tradingPairId: pair.id, side: 'BUY', orderType: 'LIMIT', quantity: '0.1', price: '100', leverage: '5' }
  const [inAccount, inBucket] = [{ marginAccountId, amount: '1' }, { riskBucketId, amount: '1' }]
  const ofPosition = { positionId, amount: '1' }
  return {
    ListMarginAccounts: { page: 1, pageSize: 5 }, GetMarginAccount: { marginAccountId }, GetAvailableCollateral: {},
    CreateMarginSubAccount: { label: 'basis' }, CloseMarginSubAccount: { marginAccountId },
    DepositCollateral: inAccount, WithdrawCollateral: inAccount, TransferCollateralToSubAccount: inAccount,
    TransferCollateralFromSubAccount: inAccount, ListRiskBuckets: { state: 'ACTIVE' }, GetRiskBucket: { riskBucketId },
    TransferCollateralToRiskBucket: inBucket, TransferCollateralFromRiskBucket: inBucket,
    SimulateOrderRisk: { marginAccountId, ...preview }, SimulateParentOrderRisk: preview,
    SimulateRiskBucketOrderRisk: { riskBucketId, ...preview },
    ListPositions: { pageSize: 5 }, GetPosition: { positionId }, GetPositionRisk: { positionId }, ClosePosition: { positionId },
    AddPositionMargin: ofPosition, ReducePositionMargin: ofPosition, ListFundingPayments: { positionId },
  }
}

/** Inputs of orders that wait. */
function waitingInputs(genesis: Genesis): Partial<Record<OperationName, Json>> {
  const [conditionalOrderId, twapOrderId] = [NO_CONDITIONAL, NO_TWAP]
  return {
    AttachTpSl: { positionId: NO_POSITION, takeProfit: { triggerPrice: '999999', orderType: 'MARKET' }, trailingStop: { trailBps: 100 } },
    ListConditionalOrders: { state: ['ARMED'], pageSize: 5 }, GetConditionalOrder: { conditionalOrderId },
    CancelConditionalOrder: { conditionalOrderId },
    CreateTwapOrder: { tradingPairId: genesis.pairs[0]!.id, side: 'BUY', quantity: '0.1', durationSeconds: 600 },
    ListTwapOrders: { state: ['ACTIVE'], pageSize: 5 }, GetTwapOrder: { twapOrderId }, CancelTwapOrder: { twapOrderId },
    ListTwapSlices: { twapOrderId, orderBy: 'DESC', pageSize: 5 },
  }
}

/** Inputs of copy trading. */
function copyInputs(): Partial<Record<OperationName, Json>> {
  const leader = 'nobody-yet'
  const named = { followId: NO_FOLLOW }
  return {
    RegisterLeader: { handle: 'somebody' }, ReleaseLeader: {}, ListLeaderPositions: { leader }, ListMyFollowers: { pageSize: 5 },
    CreateFollow: { leader, allocation: '100', maxLeverage: '5', marginMode: 'CROSS' }, ListFollows: {},
    UpdateFollow: { ...named, status: 'CLOSE_ONLY' }, StopFollow: named, CloseFollowPositions: named,
    CloseAllFollowPositions: {},
  }
}

/** Inputs that are well formed; whether there is what they name is another matter. */
export function sampleInputs(genesis: Genesis): Partial<Record<OperationName, Json>> {
  const order = sampleOrder(genesis)
  const orderId = NO_ORDER
  const assetId = genesis.assets[0]!.id
  const tradingPairId = genesis.pairs[0]!.id
  const subAccountId = NO_USER
  const agentAddress = `0x${'5a'.repeat(20)}`
  return {
    Refresh: {}, Revoke: {}, GetProfile: {}, ListBalances: { page: 1, pageSize: 5 }, GetBalance: { assetId },
    ListMovements: { entryType: 'CREDIT' }, ListAccountTrades: { tradingPairId }, GetPortfolio: { period: '24h' },
    CreateOrder: order, GetOrder: { orderId }, ListOrders: { side: 'BUY', pageSize: 5 }, CancelOrder: { orderId },
    ReplaceOrder: { orderId, price: '101' },
    BatchCreateOrders: { orders: [order] }, BatchReplaceOrders: { orders: [{ orderId, price: '101' }] },
    BatchCancelOrders: { orderIds: [orderId] }, BatchCancelAllOrders: {}, BatchCancelOrdersByPair: { tradingPairId },
    SimulateFees: { ...order, tradingMode: 'SPOT' },
    GetFaucetInfo: {}, Mint: { assetId },
    ListSubAccounts: {}, CreateSubAccount: { address: agentAddress, username: 'desk' },
    TransferSubAccountBalance: { subAccountId, assetId, amount: '1', direction: 'TO_SUB_ACCOUNT' },
    CreateSubAccountLimit: { subAccountId, assetId, maxAmount: '10' }, ListSubAccountLimits: { subAccountId },
    UpdateSubAccountLimit: { subAccountId, assetId, maxAmount: '11' }, DeleteSubAccountLimit: { subAccountId, assetId },
    UpsertDelegatedAgent: { agentAddress, allowedActions: ['CREATE_ORDER'], allowedTradingPairIds: [tradingPairId] },
    ListDelegatedAgents: {}, GetDelegatedAgent: { agentId: NO_AGENT }, RevokeDelegatedAgent: { agentId: NO_AGENT },
    ClaimLease: { launchId: 'launch-7', ownerId: 'process-1', expectedGeneration: '0' },
    SetBuilderFee: { bps: 0, makerBps: 0 },
    GetReferralPosition: {}, GetReferralDownline: {}, GetRewardsBalance: {},
    TransferRewards: { token: genesis.assets[0]!.token, amount: '1' },
    InitiateWithdrawal: { assetId, amount: '1' }, ListPendingWithdrawals: { pageSize: 5 }, GetWithdrawal: { withdrawalId: NO_WITHDRAWAL },
    GetWithdrawalCalldata: { withdrawalId: NO_WITHDRAWAL },
    ...marginInputs(genesis), ...waitingInputs(genesis), ...copyInputs(),
  }
}

export function sessionSamples(genesis: Genesis): Sample[] {
  const inputs = sampleInputs(genesis)
  const rows = (Object.entries(TABLE) as [OperationName, Row][]).filter(([, { access }]) => access === 'session')
  return rows.map(([name, row]) => {
    const input = inputs[name]
    if (input === undefined) throw new Error(`test/support/session_samples.ts has no input of ${name}`)
    const { target, body } = restRequest(row, input)
    const bytes = encodeMessage(`${name}Request`, messageOf(typeOf(`${name}Request`), input))
    return { name, row, input, target, body, grpcPath: pathOf(name), bytes }
  })
}

/** The same ed25519 signature with S + L: verifiers that do not insist on canonical S accept it. */
export const malleated = (signature: Buffer): Buffer =>
  Buffer.from(joined(signature.subarray(0, 32), little(numberOf(signature.subarray(32)) + GROUP_ORDER)))
