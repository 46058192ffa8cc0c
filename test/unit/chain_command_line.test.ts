/**
 * Promise: with `npm run chain` an operator sets up an exchange on any chain: tokens, vault and factory, again after a failure; it prints
 * what the configuration needs, says what is wrong with contracts, and tells nothing of the key.
 */
import { spawn } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { privateKeyToAccount } from 'viem/accounts'
import { HELP, readCall } from '../../gateway/chain/command_line.ts'
import { CREATE2_DEPLOYER, CREATE2_DEPLOYER_CODE } from '../../gateway/chain/vault/artifacts.ts'
import { startDevnet } from '../support/devnet_node.ts'
import { shippedGenesis } from '../support/shipped_genesis.ts'

t.setTimeout(600_000)

const MAIN = join(import.meta.dirname, '..', '..', 'gateway', 'chain', 'main.ts')
const KEY = 'b71c71a67e1177ad4e901695e1b4b9ee17ae16c6668d313eac2f96dbcda3f291'
const OWNER = privateKeyToAccount(`0x${KEY}`).address.toLowerCase()
const OPERATOR = `0x${'4f'.repeat(20)}`

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly error: string
}

function run(argv: readonly string[], environment: Record<string, string> = {}): Promise<Ended> {
  const env = { ...process.env, ...environment }
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...argv], { env })
  let [out, error] = ['', '']
  child.stdout.on('data', (text) => (out += String(text)))
  child.stderr.on('data', (text) => (error += String(text)))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, error })))
}

interface Ground {
  readonly url: string
  readonly keyFile: string
  blocks(): number
  /** Writes a genesis whose hub has this token; its path. */
  genesis(token: string): string
}

async function groundOf(t: Test): Promise<Ground> {
  const { url, devnet, directory } = await startDevnet(t, { chainId: 1328, sweeperChains: [] })
  await devnet.setCode({ address: CREATE2_DEPLOYER, code: CREATE2_DEPLOYER_CODE })
  const keyFile = join(directory, 'owner.key')
  writeFileSync(keyFile, KEY, { mode: 0o600 })
  return {
    url, keyFile, blocks: () => devnet.blocks.length,
    genesis(token) {
      const assets = [{ symbol: 'USDC', tokenAddress: token, decimals: 6, minSweepRaw: '1' }]
      const chains = [{ chainId: 1328, shortName: 'hub', hub: true, assets }, { chainId: 5, shortName: 'other', assets: [] }]
      const path = join(directory, 'genesis.json')
      writeFileSync(path, JSON.stringify({ ...shippedGenesis(), sweeper: { chains } }))
      return path
    },
  }
}

t.test('token, deploy, deploy again, check', async (t) => {
  const { url, keyFile, genesis, blocks } = await groundOf(t)
  const chain = ['--rpc-url', url]
  const made = await run(['token', ...chain, '--key-file', keyFile, '--symbol', 'USDC', '--decimals', '6', '--minter', OPERATOR, '--json'])
  t.equal(made.code, 0, made.error)
  const { token, minter } = JSON.parse(made.out)
  t.equal(minter, OPERATOR)
  const known = [...chain, '--genesis', genesis(token)]

  const call = ['deploy', ...known, '--operator', OPERATOR]
  const first = await run([...call, '--key-file', keyFile, '--daily-limit', '1000'])
  t.equal(first.code, 0, first.error)
  const found = /--vault-address (0x[0-9a-f]{40}) --factory-address (0x[0-9a-f]{40})/.exec(first.out)
  t.ok(found, first.out)
  const [, vault = '', factory = ''] = found!
  t.ok(first.out.includes(`owner     ${OWNER}`) && first.out.includes(`operator  ${OPERATOR}`))
  t.equal(first.error.split('\n').filter((line) => line !== '').length, 4, 'each step is said')
  const before = blocks()
  const second = await run([...call, '--json'], { RINGBOOK_VAULT_KEY: `0x${KEY}` })
  t.equal(second.code, 0, second.error)
  t.same(JSON.parse(second.out), { chainId: 1328, vault, factory, owner: OWNER, operator: OPERATOR, problems: [] })
  t.equal(blocks(), before, 'nothing is done twice')

  const good = await run(['check', ...known, '--vault', vault, '--factory', factory, '--operator', OPERATOR])
  t.match(good, { code: 0, out: /are as they should be\n$/ })
  const wrong = await run(['check', ...known, '--vault', vault, '--factory', factory, '--operator', OWNER])
  t.match(wrong, { code: 1, out: `wrong: the vault's operator is not ${OWNER}, whose key this is\n` })
  for (const { out, error } of [made, first, second, good, wrong]) t.notOk(`${out}${error}`.includes(KEY.slice(0, 16)))
})

t.test('what cannot be done is said, and how to go on', async (t) => {
  const { url, keyFile, genesis } = await groundOf(t)
  const nothing = genesis(`0x${'77'.repeat(20)}`)
  const call = ['deploy', '--rpc-url', url, '--key-file', keyFile, '--genesis', nothing]
  t.match(await run(call), { code: 1, error: /\nchain: there is no token USDC at 0x7777/ }, 'after vault and factory, which stay')
  t.match(await run([...call, '--chain-id', '5']), { code: 1, error: 'chain: another chain\n' })
  t.match(await run([...call, '--chain-id', '6']), { code: 2, error: /^chain: the genesis lists 1328, 5\n/ })
  t.match(await run(['deploy', '--rpc-url', 'http://127.0.0.1:1', '--key-file', keyFile]), { code: 1, error: /^chain: / })
  chmodSync(keyFile, 0o644)
  t.match(await run(call), { code: 2, error: /^chain: others may read or change the key file / })
  t.match(await run(['--help']), { code: 0, out: HELP, error: '' })
})

t.test('wrong calls', async (t) => {
  const url = ['--rpc-url', 'http://127.0.0.1:1']
  const wrong: [string[], RegExp][] = [
    [[], /^which command\? There is: deploy, check, token$/], [['destroy'], /^which command/], [['deploy', 'it', ...url], /^what is it\?$/],
    [['deploy'], /^--rpc-url is an http/], [['deploy', '--rpc-url', 'ws://a'], /^--rpc-url is an http/],
    [['check', ...url, '--key-file', 'k'], /^check takes no --key-file$/], [['token', ...url, '--vault', '0x'], /^token takes no --vault$/],
    [['deploy', ...url, '--chain-id', 'x'], /^--chain-id is a whole number/], [['deploy', ...url, '--nonsense'], /--nonsense/],
  ]
  for (const [argv, message] of wrong) t.throws(() => readCall(argv), { name: 'UsageError', message }, argv.join(' '))
  const read = (...argv: string[]) => readCall([...argv, ...url])!
  t.throws(() => read('deploy', '--operator', '0x12').address('operator'), { message: /^--operator is 0x and 40 hex digits$/ })
  t.throws(() => read('check').needed('vault'), { message: 'check needs --vault' })
  t.throws(() => read('token').symbol(), { message: /^--symbol is / })
  t.throws(() => read('token').decimals(), { message: '--decimals is missing' })
  t.throws(() => read('deploy', '--max-fee-gwei', '-1').feePerGasMax(), { name: 'UsageError' })
  t.throws(() => read('deploy').key({}), { message: /^whose key\?/ })
  t.equal(read('deploy', '--max-fee-gwei', '0.5').feePerGasMax(), 500_000_000n)
  t.equal(read('deploy').feePerGasMax(), 500_000_000_000n)
  t.equal(read('deploy', '--daily-limit', '7').dailyLimit(), 7n)
  t.equal(readCall(['deploy', '--help']), null)
  t.equal(readCall(['help']), null)
})
