/**
 * Promise: a deposit address is known before there is anything at it, is the same wherever the factory has the same address, and whatever
 * is paid to it becomes a deposit of its owner and nothing else, whoever sweeps.
 */
import t from 'tap'
import { encodeAbiParameters, getCreate2Address, keccak256, type Hex } from 'viem'
import { artifact } from '../../gateway/chain/vault/artifacts.ts'
import { depositAddresses } from '../../gateway/chain/vault/deposit_address.ts'
import {
  ALICE, balanceOf, BOB, DEFAULT, done, give, MAX, newStage, newToken, OPERATOR, OTHER, OWNER, STRANGER, told, ZERO, type Placed,
} from '../support/vault_ground.ts'

t.setTimeout(180_000)

const computed = (factory: Hex, beneficiary: Hex, application: Hex): Hex => getCreate2Address({
  from: factory, bytecode: artifact('DepositForwarder').bytecode,
  salt: keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'bytes16' }], [beneficiary, application])),
})

t.test('the address is that of CREATE2, before and after the forwarder is there, and on another chain', async (t) => {
  const { ground, factory, token } = await newStage(1328)
  const abroad = await newStage(1)
  t.equal(abroad.factory.address, factory.address, 'the factory has the same address')
  const seen = new Set<string>()
  for (const [who, application] of [[ALICE, DEFAULT], [ALICE, OTHER], [BOB, DEFAULT]] as const) {
    const address = await ground.read<Hex>(factory, 'addressOf', [who.address, application])
    t.equal(address, computed(factory.address, who.address, application))
    t.equal(address.toLowerCase(), depositAddresses(factory.address)(who.address, application), 'the exchange knows it too')
    t.equal(address, await abroad.ground.read(abroad.factory, 'addressOf', [who.address, application]))
    t.equal(await ground.code(address), '0x')
    await give(ground, token, address, 10n)
    await done(ground.act(STRANGER, factory, 'sweep', [who.address, application, token.address]))
    t.equal((await ground.code(address)).length, artifact('DepositForwarder').deployedBytecode.length, 'the forwarder stands there')
    t.equal(await ground.read(factory, 'addressOf', [who.address, application]), address)
    seen.add(address)
  }
  t.equal(seen.size, 3, 'each has its own')
})

t.test('a sweep is a deposit of the beneficiary, at the first time and later, by anybody', async (t) => {
  const { ground, vault, factory, token } = await newStage()
  const address = await ground.read<Hex>(factory, 'addressOf', [BOB.address, OTHER])
  for (const [id, amount] of [[1n, 300n], [2n, 20n]] as const) {
    await give(ground, token, address, amount)
    const swept = await ground.act(STRANGER, factory, 'sweep', [BOB.address, OTHER, token.address])
    t.strictSame(told(swept, vault), [['Deposit', {
      id, token: token.address, beneficiary: BOB.address, application: OTHER, amount, from: address,
    }]])
    t.strictSame(told(swept, factory), [['Swept', { forwarder: address, token: token.address, amount }]])
    t.equal(await balanceOf(ground, token, address), 0n)
    t.equal(await ground.read(token, 'allowance', [address, vault.address]), 0n, 'nothing is left allowed')
  }
  t.equal(await balanceOf(ground, token, vault.address), 320n)
  t.equal((await ground.act(STRANGER, factory, 'sweep', [BOB.address, OTHER, token.address])).error,
    `NothingToSweep(${address}, ${token.address})`)
})

t.test('several at once, and an empty one spoils nothing', async (t) => {
  const { ground, vault, factory, token } = await newStage()
  const other = await newToken(ground, 'TestToken')
  await done(ground.act(OWNER, vault, 'setToken', [other.address, true, MAX]))
  const [alice, bob] = await Promise.all([ALICE, BOB].map((who) => ground.read<Hex>(factory, 'addressOf', [who.address, DEFAULT])))
  await give(ground, token, alice!, 1n)
  await give(ground, other, alice!, 2n)
  await give(ground, token, bob!, 3n)
  const sweeps = [[ALICE, token], [BOB, other], [ALICE, other], [BOB, token], [BOB, token]] as const
  const asked = sweeps.map(([who, of]) => ({ beneficiary: who.address, application: DEFAULT, token: of.address }))
  const swept = await ground.act(STRANGER, factory, 'sweepMany', [asked])
  t.strictSame(told(swept, vault).map(([, { beneficiary, token, amount }]) => [beneficiary, token, amount]), [
    [ALICE.address, token.address, 1n], [ALICE.address, other.address, 2n], [BOB.address, token.address, 3n],
  ])
  t.strictSame(told(await ground.act(STRANGER, factory, 'sweepMany', [asked]), factory), [], 'and again there is nothing')
  t.equal((await ground.act(STRANGER, factory, 'sweepMany', [[]])).error, null)
})

t.test('what the vault does not take stays at the address, for later', async (t) => {
  const { ground, vault, factory, token } = await newStage()
  const address = await ground.read<Hex>(factory, 'addressOf', [ALICE.address, DEFAULT])
  const sweep = async (of: Placed, who = ALICE.address): Promise<string | null> =>
    (await ground.act(STRANGER, factory, 'sweep', [who, DEFAULT, of.address])).error
  const other = await newToken(ground, 'TestToken')
  await give(ground, other, address, 5n)
  t.equal(await sweep(other), `TokenNotListed(${other.address})`)
  t.equal(await balanceOf(ground, other, address), 5n)
  await done(ground.act(OWNER, vault, 'setToken', [other.address, true, 0n]))
  t.equal(await sweep(other), null, 'once it is listed')
  await give(ground, token, address, 5n)
  await done(ground.act(OPERATOR, vault, 'pause'))
  t.equal(await sweep(token), 'VaultPaused()')
  await done(ground.act(OWNER, vault, 'unpause'))
  t.equal(await sweep(token), null)
  t.equal(await sweep(token, ZERO), 'ZeroAddress()', 'the zero wallet has no address')
})

t.test('a forwarder hears its factory alone', async (t) => {
  const { ground, vault, factory, token } = await newStage()
  const address = await ground.read<Hex>(factory, 'addressOf', [ALICE.address, DEFAULT])
  await give(ground, token, address, 5n)
  await done(ground.act(ALICE, factory, 'sweep', [ALICE.address, DEFAULT, token.address]))
  await give(ground, token, address, 7n)
  const forwarder = ground.know(address, artifact('DepositForwarder').abi as Placed['abi'])
  for (const who of [ALICE, OWNER, OPERATOR, STRANGER]) {
    for (const into of [vault.address, who.address]) {
      t.equal((await ground.act(who, forwarder, 'forward', [into, token.address, 7n, who.address, DEFAULT])).error, 'Forbidden()')
    }
  }
  t.equal(await balanceOf(ground, token, address), 7n)
  t.equal((await ground.act(STRANGER, token, 'transferFrom', [address, STRANGER.address, 7n])).error, 'InsufficientAllowance(0)')
})

t.test('somebody who copies the factory gets other addresses', async (t) => {
  const { ground, factory } = await newStage()
  const copy = await ground.create('DepositFactory', [STRANGER.address])
  const of = (placed: Placed): Promise<Hex> => ground.read(placed, 'addressOf', [ALICE.address, DEFAULT])
  t.not(await of(copy), await of(factory))
})

t.test('the owner says which vault, and nothing is swept before', async (t) => {
  const { ground, vault, token } = await newStage()
  const factory = await ground.create('DepositFactory', [OWNER.address])
  t.equal(await ground.read(factory, 'owner'), OWNER.address)
  t.equal(await ground.read(factory, 'vault'), ZERO)
  const address = await ground.read<Hex>(factory, 'addressOf', [ALICE.address, DEFAULT])
  await give(ground, token, address, 5n)
  const sweep = (): Promise<string | null> =>
    ground.act(STRANGER, factory, 'sweep', [ALICE.address, DEFAULT, token.address]).then(({ error }) => error)
  t.equal(await sweep(), 'NoVault()')
  for (const who of [OPERATOR, STRANGER]) t.equal((await ground.act(who, factory, 'setVault', [vault.address])).error, 'Forbidden()')
  t.equal((await ground.act(OWNER, factory, 'setVault', [ALICE.address])).error, `NotAContract(${ALICE.address})`)
  const set = await ground.act(OWNER, factory, 'setVault', [vault.address])
  t.strictSame(told(set, factory), [['VaultSet', { vault: vault.address }]])
  t.equal(await sweep(), null)
  await t.rejects(ground.create('DepositFactory', [ZERO]), /not created/)
})
