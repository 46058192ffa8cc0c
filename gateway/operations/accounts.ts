/** The caller's own profile and balances, from the shared columns. */
import Type, { type Static } from 'typebox'
import type { Asset } from '../../core/engine/genesis.ts'
import { userId } from '../../core/layout/ids.ts'
import { readAccount, readBalances, type BalanceView } from '../../core/view/accounts.ts'
import { checksumAddress } from '../auth/challenge.ts'
import { createBoundedMap, remember } from '../bounded_map.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../http/envelope.ts'
import { amountText, rawText } from './amounts.ts'
import { Decimal, Nullable, operation, pageOf, PageOutput, PageQuery, rfc3339, Timestamp, Uuid } from './operation.ts'

const Profile = Type.Object({
  id: Uuid,
  address: Type.String(),
  username: Nullable(Type.String()),
  accountType: Type.Union([Type.Literal('master'), Type.Literal('sub')]),
  canWithdraw: Type.Boolean(),
  createdAt: Timestamp,
})

/** Checksummed addresses by account: an account's address never changes, and the checksum costs a Keccak. */
const addresses = createBoundedMap<number, string>(4096)

/** EIP-55 address of an account. */
function addressText(account: number, address: Uint8Array): string {
  const known = addresses.entries.get(account)
  if (known !== undefined) return known
  const text = checksumAddress(`0x${Buffer.from(address).toString('hex')}`)
  remember(addresses, account, text)
  return text
}

export const GetProfile = operation({
  output: Profile,
  run: (gateway, call) => {
    const { account, address, createdAt, createdSequence } = readAccount(gateway.state, call.account)
    call.answer({
      id: userId(createdSequence, account),
      address: addressText(account, address),
      username: null,
      accountType: 'master',
      canWithdraw: true,
      createdAt: rfc3339(createdAt),
    })
  },
})

const Balance = Type.Object({
  assetId: Uuid,
  /** Contract address. */
  token: Type.String(),
  symbol: Nullable(Type.String()),
  decimals: Type.Integer(),
  availableBalance: Decimal,
  lockedBalance: Decimal,
  totalBalance: Decimal,
  availableBalanceRaw: Type.String(),
  lockedBalanceRaw: Type.String(),
  version: Type.Integer(),
})

function balanceRecord(asset: Asset, { available, locked, version }: BalanceView): Static<typeof Balance> {
  return {
    assetId: asset.id,
    token: asset.token,
    symbol: asset.symbol,
    decimals: asset.decimals,
    availableBalance: amountText(asset, available),
    lockedBalance: amountText(asset, locked),
    totalBalance: amountText(asset, available + locked),
    availableBalanceRaw: rawText(asset, available),
    lockedBalanceRaw: rawText(asset, locked),
    version: Number(version),
  }
}

/** Balances of every asset, zero ones included, in genesis order. */
const balancesOf = (gateway: Gateway, account: number): BalanceView[] | null => readBalances(gateway.state, gateway.gate, account)

export const ListBalances = operation({
  query: Type.Object(PageQuery),
  output: Type.Object({ balances: Type.Array(Balance), ...PageOutput }),
  run: (gateway, call, input) => {
    const balances = balancesOf(gateway, call.account)
    if (balances === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
    const { items, ...page } = pageOf(balances, input.page, input.pageSize)
    call.answer({ balances: items.map((balance) => balanceRecord(gateway.genesis.assets[balance.asset]!, balance)), ...page })
  },
})

export const GetBalance = operation({
  params: Type.Object({ assetId: Uuid }),
  output: Balance,
  run: (gateway, call, input) => {
    const asset = gateway.assets.get(input.assetId.toLowerCase())
    if (asset === undefined) return call.refuse(new Refused('NOT_FOUND', 'Asset not found'))
    const balances = balancesOf(gateway, call.account)
    if (balances === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
    call.answer(balanceRecord(asset, balances[asset.index]!))
  },
})
