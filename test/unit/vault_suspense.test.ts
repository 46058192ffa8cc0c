/**
 * Promise: a stranger cannot keep a deposit from its owner by filling suspense: what is too little to be swept takes no row, and what found
 * no row is found again when its wallet signs in, or when a row is free.
 */
import t from 'tap'
import { createPublicClient, createWalletClient, encodeFunctionData, erc20Abi, http, type Hex } from 'viem'
import { CommandType } from '../../core/layout/command.ts'
import { VAULT_ABI } from '../../gateway/chain/vault/artifacts.ts'
import { DEFAULT_APPLICATION } from '../../gateway/chain/vault/deposit_address.ts'
import { DEEP } from '../suite/rounds.ts'
import { USD, USD_TOKEN, vaultStage, walletOf, type VaultStage } from '../support/vault_stage.ts'

t.setTimeout(DEEP ? 3_600_000 : 300_000)

/** One USD, in base units. */
const ONE = 1_000_000_000n
const STRANGER = walletOf(900)
/** Rows of suspense of the exchange as it is shipped; a deposit takes the chain 20 ms. */
const MANY = DEEP ? 4096 : 48

/**
 * Code of a contract that calls another one so often: its data are the target, how often, and the data of the call, of which the third word
 * is one more each time. It reverts when a call does.
 *
 *   calldatacopy(0, 0x40, calldatasize - 0x40); for n = calldata[0x20] down to 1: mem[0x44] += 1, call(calldata[0], data)
 */
const REPEATER: Hex = `0x${[
  '603d80600b6000396000f3604036038060406000376020355b8015603557604451600101',
  '6044526000600083600060006000355af11560375760019003600d565b005b60006000fd',
].join('')}`

const word = (value: bigint | Hex): string => (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')

/** `times` deposits of `raw` each, for wallets that nobody has, 4 in a transaction, whose time is bounded. */
async function depositForStrangers(stage: VaultStage, times: number, raw: bigint): Promise<void> {
  const transport = http(stage.chain.url, { retryCount: 0 })
  const client = createWalletClient({ transport, account: STRANGER })
  const send = async (transaction: { to?: Hex; data: Hex }): Promise<Hex> => {
    const hash = await client.sendTransaction({ ...transaction, chain: null, gas: 15_000_000n, gasPrice: 0n })
    const receipt = await createPublicClient({ transport }).getTransactionReceipt({ hash })
    t.equal(receipt.status, 'success')
    return receipt.contractAddress ?? '0x'
  }
  const repeater = await send({ data: REPEATER })
  const repeat = (target: Hex, count: number, data: Hex): Promise<Hex> =>
    send({ to: repeater, data: `0x${word(target)}${word(BigInt(count))}${data.slice(2)}` })
  const { vault } = stage.places
  await stage.give(repeater, raw * BigInt(times))
  await repeat(USD_TOKEN, 1, encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [vault, raw * BigInt(times)] }))
  for (let done = 0; done < times; done += 4) {
    const nobody: Hex = `0x${(0xbeefn * 2n ** 140n + BigInt(done)).toString(16).padStart(40, '0')}`
    const args = [USD_TOKEN, raw, nobody, DEFAULT_APPLICATION] as const
    await repeat(vault, Math.min(4, times - done), encodeFunctionData({ abi: VAULT_ABI, functionName: 'deposit', args }))
  }
}

const deposited = (stage: VaultStage): bigint => stage.books.totals(stage.state.genesis.assets[USD]!).deposited

t.test('as many deposits of one atom as there are rows take none: 100 USD are there when their wallet signs in', async (t) => {
  const stage = await vaultStage(t, { suspense: MANY }, [], String(ONE))
  await depositForStrangers(stage, MANY, 1000n)
  await stage.deposit(walletOf(7), 100n * ONE)
  await stage.until('all of them', () => stage.done(CommandType.CREDIT_DEPOSIT).length === MANY + 1)
  t.match(await stage.turns(), { suspense: 1, chains: [{ lag: 0 }] })
  t.equal(deposited(stage), 100_000_000n, 'the dust is nobody\'s')
  stage.restart()
  const owner = stage.owner(7)
  await stage.turns(2)
  t.equal(stage.available(owner), 100_000_000n)
  const [dusty, rich] = [stage.owner(8), stage.owner(9)]
  await stage.deposit(dusty.wallet, 1000n)
  await stage.turns()
  t.equal(stage.available(dusty), 1n, 'of whom there is an account the smallest amount counts')
  t.equal(stage.available(rich), 0n)
})

t.test('a full pool of deposits that are none too small: those that found no row are found again', async (t) => {
  const stage = await vaultStage(t, { suspense: 4 }, [], String(ONE))
  await depositForStrangers(stage, 6, ONE)
  await stage.deposit(walletOf(7), 100n * ONE)
  await stage.deposit(walletOf(7), 50n * ONE)
  await stage.deposit(walletOf(8), 7n * ONE)
  t.match(await stage.turns(2), { suspense: 4 })
  t.equal(stage.books.lost().lost.length, 6)
  const asked = stage.applied.length
  await stage.turns(3)
  t.equal(stage.applied.slice(asked).filter(({ type }) => type === CommandType.CREDIT_DEPOSIT).length, 0, 'while nothing changes')
  stage.restart()
  const owner = stage.owner(7)
  await stage.turns(2)
  t.equal(stage.available(owner), 150_000_000n, 'with the first sign-in')
  t.equal(stage.books.lost().lost.length, 4)
  const { row, sequence } = stage.books.suspense()[0]!
  const { createdSequence } = stage.books.account(owner.account)
  const given = { row, account: owner.account, suspenseSequence: sequence, createdSequence }
  t.equal(stage.command(CommandType.ASSIGN_SUSPENSE, given)['code'], 0)
  await stage.turns(2)
  t.equal(stage.books.lost().lost.length, 3, 'a row that is free is taken by one of them')
  const other = stage.owner(8)
  await stage.turns(2)
  t.equal(stage.available(other), 7_000_000n)
  t.equal(stage.available(owner), 151_000_000n, 'none twice')
  const report = await stage.turns()
  t.match(report.solvency, [{ symbol: 'USD', deficit: '0' }, {}])
})
