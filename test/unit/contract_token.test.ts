/**
 * Promise: the test token is an ERC-20 whose minter mints once for an id, and is set up once, also where its code was put at an address.
 */
import t from 'tap'
import { toHex, type Abi, type Hex } from 'viem'
import { artifact } from '../../gateway/chain/vault/artifacts.ts'
import {
  ALICE, balanceOf, BOB, done, MAX, newGround, OPERATOR, OWNER, STRANGER, ZERO, type Ground, type Placed,
} from '../support/vault_ground.ts'

t.setTimeout(180_000)

const id = (n: number): Hex => toHex(n, { size: 32 })
const errorOf = async (ground: Ground, who: typeof ALICE, token: Placed, name: string, args: readonly unknown[]): Promise<string | null> =>
  (await ground.act(who, token, name, args)).error

async function newToken(): Promise<{ ground: Ground; token: Placed }> {
  const ground = await newGround()
  const { abi, deployedBytecode } = artifact('TestToken')
  const address = '0x0000000000000000000000000000000000001001'
  await ground.putCode(address, deployedBytecode)
  return { ground, token: ground.know(address, abi as Abi) }
}

t.test('set up once, wherever its code is', async (t) => {
  const { ground, token } = await newToken()
  t.equal(await errorOf(ground, STRANGER, token, 'mint', [id(1), ALICE.address, 1n]), 'Forbidden()', 'nobody mints before')
  t.equal(await errorOf(ground, OWNER, token, 'initialize', ['Dollar', 'USD', 6, ZERO]), 'ZeroAddress()')
  t.equal(await errorOf(ground, OWNER, token, 'initialize', ['Dollar', 'USD', 6, OPERATOR.address]), null)
  t.equal(await errorOf(ground, STRANGER, token, 'initialize', ['Other', 'OTH', 1, STRANGER.address]), 'AlreadyInitialized()')
  const views = ['name', 'symbol', 'decimals', 'minter', 'totalSupply']
  t.strictSame(await Promise.all(views.map((view) => ground.read(token, view))), ['Dollar', 'USD', 6, OPERATOR.address, 0n])
})

t.test('an id mints once', async (t) => {
  const { ground, token } = await newToken()
  await done(ground.act(OWNER, token, 'initialize', ['Dollar', 'USD', 6, OPERATOR.address]))
  t.equal(await ground.read(token, 'minted', [id(1)]), false)
  const { events } = await done(ground.act(OPERATOR, token, 'mint', [id(1), ALICE.address, 100n]))
  t.strictSame(events.map(({ name, args }) => [name, args]), [
    ['Minted', { id: id(1), to: ALICE.address, amount: 100n }], ['Transfer', { from: ZERO, to: ALICE.address, value: 100n }],
  ])
  t.equal(await ground.read(token, 'minted', [id(1)]), true)
  t.strictSame((await done(ground.act(OPERATOR, token, 'mint', [id(1), BOB.address, 7n]))).events, [], 'again it does nothing')
  t.equal(await balanceOf(ground, token, BOB.address), 0n)
  t.equal(await errorOf(ground, OPERATOR, token, 'mint', [id(2), ZERO, 7n]), 'ZeroAddress()')
  t.equal(await ground.read(token, 'minted', [id(2)]), false)
  for (const who of [OWNER, STRANGER, ALICE]) t.equal(await errorOf(ground, who, token, 'mint', [id(3), who.address, 1n]), 'Forbidden()')
  t.equal(await errorOf(ground, OPERATOR, token, 'mint', [id(4), BOB.address, MAX - 99n]), 'Panic(17)', 'the supply does not wrap around')
  t.equal(await ground.read(token, 'totalSupply'), 100n)
})

t.test('transfers and allowances are those of ERC-20', async (t) => {
  const { ground, token } = await newToken()
  await done(ground.act(OWNER, token, 'initialize', ['Dollar', 'USD', 6, OPERATOR.address]))
  await done(ground.act(OPERATOR, token, 'mint', [id(1), ALICE.address, 100n]))
  const sent = await ground.act(ALICE, token, 'transfer', [BOB.address, 40n])
  t.equal(sent.returned, true)
  t.strictSame(sent.events.map(({ name, args }) => [name, args]), [['Transfer', { from: ALICE.address, to: BOB.address, value: 40n }]])
  t.equal(await errorOf(ground, ALICE, token, 'transfer', [BOB.address, 61n]), 'InsufficientBalance(60)')
  t.equal(await errorOf(ground, ALICE, token, 'transfer', [ZERO, 1n]), 'ZeroAddress()')
  t.equal(await errorOf(ground, ALICE, token, 'transfer', [ALICE.address, 60n]), null, 'to oneself')
  t.equal(await balanceOf(ground, token, ALICE.address), 60n)
  t.equal(await errorOf(ground, BOB, token, 'transferFrom', [ALICE.address, BOB.address, 1n]), 'InsufficientAllowance(0)')
  const allowed = await ground.act(ALICE, token, 'approve', [BOB.address, 30n])
  t.strictSame(allowed.events.map(({ name, args }) => [name, args]), [
    ['Approval', { owner: ALICE.address, spender: BOB.address, value: 30n }],
  ])
  t.equal((await done(ground.act(BOB, token, 'transferFrom', [ALICE.address, BOB.address, 20n]))).returned, true)
  t.equal(await ground.read(token, 'allowance', [ALICE.address, BOB.address]), 10n)
  t.equal(await errorOf(ground, BOB, token, 'transferFrom', [ALICE.address, BOB.address, 11n]), 'InsufficientAllowance(10)')
  await done(ground.act(ALICE, token, 'approve', [BOB.address, MAX]))
  t.equal(await errorOf(ground, BOB, token, 'transferFrom', [ALICE.address, BOB.address, 41n]), 'InsufficientBalance(40)')
  await done(ground.act(BOB, token, 'transferFrom', [ALICE.address, BOB.address, 40n]))
  t.equal(await ground.read(token, 'allowance', [ALICE.address, BOB.address]), MAX, 'the largest allowance is not used up')
  t.strictSame([await balanceOf(ground, token, ALICE.address), await balanceOf(ground, token, BOB.address)], [0n, 100n])
})
