/**
 * Promise: the contracts of an exchange are set up on a chain by the signer alone, whatever step a crash falls between, once each, at
 * addresses that are known before; what is there and is another's is refused and said.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { encodeFunctionData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { artifact } from '../../gateway/chain/vault/artifact_file.ts'
import { FACTORY_ABI, TOKEN_ABI, VAULT_ABI } from '../../gateway/chain/vault/artifacts.ts'
import { DeployError, problemsOf } from '../../gateway/chain/vault/check.ts'
import { deploy, hubTokens, NO_LIMIT, placesOf, PLACES_FILE, scopeOf, setUpOwnVault } from '../../gateway/chain/vault/deploy.ts'
import { DEFAULT_APPLICATION, depositAddresses } from '../../gateway/chain/vault/deposit_address.ts'
import { createChainNode } from '../../gateway/chain/vault/node.ts'
import { createSender } from '../../gateway/chain/vault/sender.ts'
import { startSigner } from '../../gateway/chain/vault/signer.ts'
import type { ChainNode, Hex, NodeReceipt, Sender, Signer } from '../../gateway/chain/vault/types.ts'
import { startDevnet, type DevnetNode } from '../support/devnet_node.ts'
import { publicClient, walletClient } from '../support/contracts.ts'
import { shippedGenesis } from '../support/shipped_genesis.ts'

const GENESIS = parseGenesis(JSON.stringify(shippedGenesis()))
const TOKENS = hubTokens(GENESIS, true)
const KEY = '11'.repeat(32)
const OPERATOR = privateKeyToAccount(`0x${KEY}`).address.toLowerCase() as Hex
const PLAN = { chainId: GENESIS.chainId, owner: OPERATOR, operator: OPERATOR, tokens: TOKENS }
const STEPS = 3 + 2 * TOKENS.length
const FEES = { feePerGasMax: 10n ** 9n }

interface Setup {
  readonly chain: DevnetNode
  readonly node: ChainNode
  readonly signer: Signer
}

async function setUp(t: Test, key = KEY): Promise<Setup> {
  const chain = await startDevnet(t, GENESIS)
  const { signer, end } = await startSigner({ kind: 'given', key })
  t.teardown(end)
  return { chain, node: createChainNode({ chainId: GENESIS.chainId, url: chain.url, timeoutMs: 10_000, now: Date.now }), signer }
}

const senderOf = ({ node, signer }: Setup, address = OPERATOR): Sender =>
  createSender({ node, signer, address, feePerGasMax: 0n, stuckMs: 5_000, waitMs: 10_000, pollMs: 5 })

t.test('everything is set up once, and is what it should be', async (t) => {
  const setting = await setUp(t)
  const { chain, node, signer } = setting
  const prepared = chain.devnet.blocks.length
  const own = { node, signer, genesis: GENESIS, dataDir: chain.directory, ...FEES }
  const said: string[] = []
  const places = await setUpOwnVault({ ...own, said: (step) => said.push(step) })
  t.same(places, placesOf(PLAN), 'where it was known to be')
  t.equal(said.length, STEPS)
  t.equal(chain.devnet.blocks.length, prepared + STEPS, 'a block each')
  t.same(await problemsOf(node, places, OPERATOR, TOKENS), [])
  const client = publicClient(chain.url)
  const vault = { address: places.vault, abi: VAULT_ABI } as const
  t.equal((await client.readContract({ ...vault, functionName: 'owner' })).toLowerCase(), OPERATOR)
  t.same(await client.readContract({ ...vault, functionName: 'tokens', args: [TOKENS[0]!.address] }), [true, NO_LIMIT, 0n, 0n])
  const token = { address: TOKENS[0]!.address, abi: TOKEN_ABI } as const
  t.equal(await client.readContract({ ...token, functionName: 'decimals' }), 6)
  const derive = depositAddresses(places.factory)
  for (const [who, what] of [[OPERATOR, DEFAULT_APPLICATION], [`0x${'12'.repeat(20)}`, `0x${'5a1c'.repeat(8)}`]] as const) {
    const asked = client.readContract({ address: places.factory, abi: FACTORY_ABI, functionName: 'addressOf', args: [who, what] })
    t.equal(derive(who, what), (await asked).toLowerCase(), 'deposit addresses are those of the factory')
  }
  t.same(await setUpOwnVault(own), places)
  t.equal(chain.devnet.blocks.length, prepared + STEPS, 'nothing is done twice')
  t.match(JSON.parse(readFileSync(join(chain.directory, PLACES_FILE), 'utf8')), { ...places, operator: OPERATOR })
})

t.setTimeout(240_000)

const KILLED = 'killed'

t.test('a crash before and after every step', async (t) => {
  const setting = await setUp(t)
  const { chain, node, signer } = setting
  const places = placesOf(PLAN)
  await signer.bind(scopeOf(places, { tokens: TOKENS.map(({ address }) => address), deploys: true, ...FEES }))
  const begun = chain.devnet.blocks.length
  for (const when of ['before', 'after'] as const) {
    await chain.devnet.rewind(begun - 1)
    for (let step = 0; step < STEPS; step++) {
      // Dies with its first transaction when that is in a block, or with its second one before it is sent.
      let sent = 0
      const sender = senderOf(setting)
      const dying: Sender = {
        ...sender,
        async send(to, data): Promise<NodeReceipt> {
          if (when === 'before' && sent++ > 0) throw new Error(KILLED)
          const receipt = await sender.send(to, data)
          if (when === 'after') throw new Error(KILLED)
          return receipt
        },
      }
      const done = when === 'before' && step === STEPS - 1
      const run = deploy(node, dying, PLAN, places)
      await (done ? run : t.rejects(run, { message: KILLED }, `${when} the next one, step ${step}`))
      t.equal(chain.devnet.blocks.length, begun + step + 1)
    }
    await deploy(node, senderOf(setting), PLAN, places)
    t.equal(chain.devnet.blocks.length, begun + STEPS)
    t.same(await problemsOf(node, places, OPERATOR, TOKENS), [])
  }
})

t.test('a token that somebody else has set up is refused, by name', async (t) => {
  const { chain, node, signer } = await setUp(t)
  const stranger = `0x${'77'.repeat(20)}` as const
  const args = ['USDC', 'USDC', 6, stranger] as const
  await walletClient(chain.url).sendTransaction({
    to: TOKENS[0]!.address, data: encodeFunctionData({ abi: TOKEN_ABI, functionName: 'initialize', args }), gas: 500_000n,
    maxFeePerGas: 0n, maxPriorityFeePerGas: 0n,
  })
  const message = new RegExp(`^the token USDC at ${TOKENS[0]!.address} is minted by somebody else, ${stranger}$`)
  const own = { node, signer, genesis: GENESIS, dataDir: chain.directory, ...FEES }
  await t.rejects(setUpOwnVault(own), { name: 'DeployError', message })
  t.ok((await problemsOf(node, placesOf(PLAN), OPERATOR, TOKENS)).some((problem) => problem.includes('minted by somebody else')))
})

t.test('a vault of another key is not replaced by a new one', async (t) => {
  const { chain, node, signer } = await setUp(t)
  const own = { node, genesis: GENESIS, dataDir: chain.directory, ...FEES }
  const places = await setUpOwnVault({ ...own, signer })
  const other = await startSigner({ kind: 'given', key: '22'.repeat(32) })
  t.teardown(other.end)
  const blocks = chain.devnet.blocks.length
  const message = /^the vault of this exchange is that of/
  await t.rejects(setUpOwnVault({ ...own, signer: other.signer }), { name: 'DeployError', message })
  t.equal(chain.devnet.blocks.length, blocks)
  // The file is a copy: without it the addresses are worked out.
  writeFileSync(join(chain.directory, PLACES_FILE), '{')
  t.same(await setUpOwnVault({ ...own, signer }), places)
  // The contracts of another version stay where they are.
  const elsewhere = { ...places, vault: places.factory, operator: OPERATOR }
  writeFileSync(join(chain.directory, PLACES_FILE), JSON.stringify(elsewhere))
  const { signer: again, end } = await startSigner({ kind: 'given', key: KEY })
  t.teardown(end)
  await t.rejects(setUpOwnVault({ ...own, signer: again }), DeployError)
})

t.test('what is wrong is said, one by one', async (t) => {
  const { chain, node, signer } = await setUp(t)
  const nowhere = placesOf(PLAN)
  const none = [`there is no vault at ${nowhere.vault}`, `there is no factory at ${nowhere.factory}`]
  t.same(await problemsOf(node, nowhere, OPERATOR, TOKENS), none)
  const places = await setUpOwnVault({ node, signer, genesis: GENESIS, dataDir: chain.directory, ...FEES })
  const stranger = `0x${'77'.repeat(20)}` as Hex
  t.same(await problemsOf(node, places, stranger, []), [`the vault's operator is not ${stranger}, whose key this is`])
  const wrong = { ...TOKENS[0]!, decimals: 18 }
  t.same(await problemsOf(node, places, OPERATOR, [wrong]), [`USDC at ${wrong.address} has not 18 decimals`])
  const swapped = await problemsOf(node, { ...places, vault: places.factory, factory: places.vault }, OPERATOR, [])
  t.ok(swapped.includes(`what is at ${places.factory} does not answer domainSeparator() as ours does`))
  const elsewhere = await problemsOf(node, { ...places, chainId: 1 }, OPERATOR, [])
  t.ok(elsewhere.some((problem) => problem.includes('no vault of this version on chain 1')))
  t.ok((await problemsOf(node, places, OPERATOR, [{ ...wrong, address: places.factory }])).length >= 2)
})

t.test('the interfaces are those of the compiled contracts', async (t) => {
  const signatureOf = ({ type, name, inputs = [], outputs = [] }: any): string =>
    JSON.stringify([type, name, ...[inputs, outputs].map((list: any[]) => list.map(({ type, indexed = false }) => [type, indexed]))])
  for (const [name, abi] of [['Vault', VAULT_ABI], ['DepositFactory', FACTORY_ABI], ['TestToken', TOKEN_ABI]] as const) {
    const known = new Set(artifact(name).abi.map(signatureOf))
    for (const one of abi) t.ok(known.has(signatureOf(one)), `${name} ${one.name}`)
  }
})
