/**
 * Promise: the contracts do on a chain, by transactions of viem over JSON-RPC, what they do on the bare machine; they get the addresses
 * that are known before; and what a user pays for is bounded in gas.
 */
import t from 'tap'
import {
  encodeDeployData, getCreate2Address, parseEventLogs, toHex, type Abi, type Hex, type PrivateKeyAccount, type TransactionReceipt,
} from 'viem'
import { parseGenesis } from '../../core/state/genesis.ts'
import { artifact, CREATE2_DEPLOYER, SALT, type ArtifactName } from '../../gateway/chain/vault/artifacts.ts'
import { depositAddresses } from '../../gateway/chain/vault/deposit_address.ts'
import { withdrawalTypedData } from '../../gateway/chain/vault/typed_data.ts'
import { publicClient, walletClient } from '../support/contracts.ts'
import { startDevnet } from '../support/devnet_node.ts'
import { shippedGenesis } from '../support/shipped_genesis.ts'
import { ALICE, BOB, DEFAULT, MAX, OPERATOR, OTHER, OWNER, STRANGER, type Placed } from '../support/vault_ground.ts'

t.setTimeout(120_000)

const GENESIS = parseGenesis(JSON.stringify(shippedGenesis()))
const ROOT = toHex(1n, { size: 32 })

/** A chain with the deployer, and transactions on it. */
async function startChain(t: Parameters<typeof startDevnet>[0]) {
  const { url } = await startDevnet(t, GENESIS)
  const client = publicClient(url)
  const send = async (account: PrivateKeyAccount, to: Hex, data: Hex): Promise<TransactionReceipt> => {
    const wallet = walletClient(url, account)
    const hash = await wallet.sendTransaction({ to, data, gas: 8_000_000n, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n })
    return client.waitForTransactionReceipt({ hash })
  }
  const write = async (account: PrivateKeyAccount, { address, abi }: Placed, functionName: string, args: readonly unknown[] = []) => {
    // Gas as a node estimates it, so that an estimate is proved to be enough.
    const gas = await client.estimateContractGas({ account, address, abi, functionName, args })
    const hash = await walletClient(url, account).writeContract({
      address, abi, functionName, args, gas, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n,
    })
    const receipt = await client.waitForTransactionReceipt({ hash })
    t.equal(receipt.status, 'success', functionName)
    return receipt
  }
  const create = async (name: ArtifactName, args: readonly unknown[] = []): Promise<Placed> => {
    const { abi, bytecode } = { ...artifact(name), abi: artifact(name).abi as Abi }
    const code = encodeDeployData({ abi, bytecode, args })
    const address = getCreate2Address({ from: CREATE2_DEPLOYER, salt: SALT, bytecode: code })
    const receipt = await send(STRANGER, CREATE2_DEPLOYER, `${SALT}${code.slice(2)}` as Hex)
    t.equal(receipt.status, 'success')
    t.equal((await client.getCode({ address }))?.length, artifact(name).deployedBytecode.length, `${name} is where it was known to be`)
    t.comment(`${name}: ${(bytecode.length - 2) / 2} bytes to create, ${receipt.gasUsed} gas`)
    return { address, abi }
  }
  return { client, write, create }
}

t.test('from a deposit to a withdrawal and a batch', async (t) => {
  const { client, write, create } = await startChain(t)
  const vault = await create('Vault', [OWNER.address, OPERATOR.address])
  const factory = await create('DepositFactory', [OWNER.address])
  const token = await create('TestToken')
  await write(OWNER, token, 'initialize', ['Test dollar', 'TUSD', 6, OPERATOR.address])
  await write(OWNER, vault, 'setToken', [token.address, true, MAX])
  await write(OWNER, factory, 'setVault', [vault.address])
  await write(OPERATOR, token, 'mint', [ROOT, ALICE.address, 10_000n])
  await write(ALICE, token, 'approve', [vault.address, MAX])

  /** Bounds are a tenth above what was measured: whoever passes them pays more than he needs to. */
  const within = (name: string, { gasUsed }: TransactionReceipt, most: bigint): void => {
    t.ok(gasUsed <= most, `${name}: ${gasUsed} gas, at most ${most}`)
    t.comment(`${name}: ${gasUsed} gas`)
  }
  const deposit = await write(ALICE, vault, 'deposit', [token.address, 6_000n, ALICE.address, DEFAULT])
  within('the first deposit', deposit, 102_000n)
  t.match(parseEventLogs({ abi: vault.abi, logs: deposit.logs, eventName: 'Deposit' }).map(({ args }) => args), [
    { id: 1n, token: token.address, beneficiary: ALICE.address, application: DEFAULT, amount: 6_000n, from: ALICE.address },
  ])
  within('a deposit', await write(ALICE, vault, 'deposit', [token.address, 1n, ALICE.address, DEFAULT]), 64_000n)

  const forwarder = depositAddresses(factory.address.toLowerCase() as Hex)(ALICE.address, OTHER)
  await write(ALICE, token, 'transfer', [forwarder, 500n])
  within('the first sweep', await write(STRANGER, factory, 'sweep', [ALICE.address, OTHER, token.address]), 293_000n)
  await write(ALICE, token, 'transfer', [forwarder, 500n])
  const sweep = await write(STRANGER, factory, 'sweep', [ALICE.address, OTHER, token.address])
  within('a sweep', sweep, 91_000n)
  t.match(parseEventLogs({ abi: vault.abi, logs: sweep.logs, eventName: 'Deposit' })[0]!.args, { amount: 500n, application: OTHER })

  const message = { token: token.address, amount: 700n, destination: BOB.address, nonce: 3n, deadline: BigInt(2 ** 40) }
  const signature = await OPERATOR.signTypedData(
    withdrawalTypedData({ chainId: GENESIS.chainId, vault: vault.address, factory: factory.address }, message))
  const args = [message.token, message.amount, message.destination, message.nonce, message.deadline, signature]
  const paid = await write(STRANGER, vault, 'withdraw', args)
  within('a withdrawal', paid, 136_000n)
  t.match(parseEventLogs({ abi: vault.abi, logs: paid.logs, eventName: 'Withdrawal' }).map(({ args }) => args), [
    { nonce: 3n, token: token.address, destination: BOB.address, amount: 700n },
  ])
  const balance = (who: Hex): Promise<unknown> => client.readContract({ ...token, functionName: 'balanceOf', args: [who] })
  t.strictSame([await balance(BOB.address), await balance(vault.address)], [700n, 6_301n])
  const again = client.simulateContract({ account: BOB, address: vault.address, abi: vault.abi, functionName: 'withdraw', args })
  await t.rejects(again, /NonceUsed\(uint256 nonce\)\s+\(3\)/, 'viem names the error')

  within('a batch', await write(OPERATOR, vault, 'postBatch', [1n, 10n, 1, ROOT, 1, ROOT]), 130_000n)
  t.match(await client.readContract({ ...vault, functionName: 'batches', args: [1n] }), [10n, 1, ROOT, 1, ROOT])
})
