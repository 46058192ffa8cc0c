/**
 * `npm run chain -- COMMAND`: the contracts of an exchange on an outside chain (command_line.ts has the help). The embedded chain needs
 * none of it: the vault thread sets it up.
 *
 * Results go to standard output, steps and failures to standard error. Exit code 0: done; 1: it is not as it should be, or could not be
 * done; 2: the call was wrong and nothing was asked.
 */
import { readFileSync } from 'node:fs'
import { concat, encodeFunctionData, getContractAddress, keccak256, toBytes } from 'viem'
import { saidVersion } from '../../core/lib/about.ts'
import { parseGenesis, type Genesis } from '../../core/state/genesis.ts'
import { HELP, readCall, UsageError, type Call } from './command_line.ts'
import { ChainUnavailable } from './client.ts'
import { artifact } from './vault/artifact_file.ts'
import { CREATE2_DEPLOYER, TOKEN_ABI } from './vault/artifacts.ts'
import { DeployError, problemsOf, readerOf, type TokenPlan } from './vault/check.ts'
import { deploy, NO_LIMIT, placesOf, scopeOf } from './vault/deploy.ts'
import { createChainNode } from './vault/node.ts'
import { createSender } from './vault/sender.ts'
import { startSigner } from './vault/signer.ts'
import { SendRefused, SignerRefused, SignerUnavailable, type ChainNode, type Hex, type Places, type Sender } from './vault/types.ts'

const EXIT = { DONE: 0, FAILED: 1, USAGE: 2 } as const
const ANSWER_MS = 20_000
/** Blocks outside take a while. */
const SENDING = { stuckMs: 60_000, waitMs: 900_000, pollMs: 500 }
const ZERO: Hex = `0x${'00'.repeat(20)}`

interface Shown {
  readonly text: string
  readonly json: Record<string, unknown>
  readonly good: boolean
}

/** The chain of the genesis that is meant, and its tokens. */
function chainOf(call: Call): { chainId: number; tokens: readonly TokenPlan[] } {
  let genesis: Genesis
  try {
    genesis = parseGenesis(readFileSync(call.genesis, 'utf8'))
  } catch (error) {
    throw new UsageError(`--genesis: ${(error as Error).message}`)
  }
  const chains = genesis.sweeperChains
  const chain = chains.find(({ chainId, hub }) => (call.chainId === null ? hub : chainId === call.chainId))
  if (chain === undefined) throw new UsageError(`the genesis lists ${chains.map(({ chainId }) => chainId).join(', ') || 'no chain'}`)
  const limit = call.command === 'deploy' ? call.dailyLimit() : null
  const tokens = chain.assets.map(({ symbol, tokenAddress, decimals }): TokenPlan => ({
    address: tokenAddress.toLowerCase() as Hex, symbol, decimals, test: false,
    dailyLimit: limit === null ? NO_LIMIT : limit * 10n ** BigInt(decimals),
  }))
  return { chainId: chain.chainId, tokens }
}

const nodeOf = (call: Call, chainId: number): ChainNode =>
  createChainNode({ chainId, url: call.url, timeoutMs: ANSWER_MS, now: Date.now })

/** Runs `work` with a sender of the owner's key. `places`: of the contracts that may be called, once it is known who the owner is. */
async function withOwner<T>(
  call: Call, node: ChainNode, tokens: readonly Hex[], places: (owner: Hex) => Places, work: (sender: Sender, owner: Hex) => Promise<T>,
): Promise<T> {
  const feePerGasMax = call.feePerGasMax()
  const { signer, end } = await startSigner(call.key(process.env)).catch((error: Error) => {
    throw new UsageError(error.message)
  })
  try {
    const owner = await signer.address()
    await signer.bind(scopeOf(places(owner), { tokens, deploys: true, feePerGasMax }))
    return await work(createSender({ node, signer, address: owner, feePerGasMax, ...SENDING }), owner)
  } finally {
    await end()
  }
}

const say = (text: string): void => void process.stderr.write(`${text}\n`)

async function runDeploy(call: Call): Promise<Shown> {
  const { chainId, tokens } = chainOf(call)
  const [node, given] = [nodeOf(call, chainId), call.address('operator')]
  const planOf = (owner: Hex) => ({ chainId, owner, operator: given ?? owner, tokens })
  const addresses = tokens.map(({ address }) => address)
  return withOwner(call, node, addresses, (owner) => placesOf(planOf(owner)), async (sender, owner) => {
    const plan = planOf(owner)
    const places = placesOf(plan)
    await deploy(node, sender, plan, places, say)
    const problems = await problemsOf(node, places, plan.operator, tokens)
    const { vault, factory } = places
    const settings = `  --vault-address ${vault} --factory-address ${factory}\n`
    const text = `chain     ${chainId}\nvault     ${vault}\nfactory   ${factory}\nowner     ${owner}\noperator  ${plan.operator}\n`
      + `\nFor the exchange, with --chain-rpc-url and the operator's key:\n\n${settings}${told(problems)}`
    return { text, json: { chainId, vault, factory, owner, operator: plan.operator, problems }, good: problems.length === 0 }
  })
}

const told = (problems: readonly string[]): string => problems.map((problem) => `wrong: ${problem}\n`).join('')

async function runCheck(call: Call): Promise<Shown> {
  const { chainId, tokens } = chainOf(call)
  const places = { chainId, vault: call.needed('vault'), factory: call.needed('factory') }
  const operator = call.needed('operator')
  const problems = await problemsOf(nodeOf(call, chainId), places, operator, tokens)
  const good = problems.length === 0
  const text = `vault ${places.vault} and factory ${places.factory} on chain ${chainId} are as they should be\n`
  return { text: good ? text : told(problems), json: { ...places, operator, problems }, good }
}

async function runToken(call: Call): Promise<Shown> {
  const { chainId } = chainOf(call)
  const [node, symbol, decimals, given] = [nodeOf(call, chainId), call.symbol(), call.decimals(), call.address('minter')]
  const salt = keccak256(toBytes(`ringbook token ${symbol} ${decimals}`))
  const { bytecode } = artifact('TestToken')
  const token = getContractAddress({ opcode: 'CREATE2', from: CREATE2_DEPLOYER, salt, bytecode }).toLowerCase() as Hex
  const places = (owner: Hex): Places => placesOf({ chainId, owner, operator: owner })
  return withOwner(call, node, [token], places, async (sender, owner) => {
    const minter = given ?? owner
    if ((await node.code(token)) === '0x') {
      if ((await node.code(CREATE2_DEPLOYER)) === '0x') throw new DeployError(`no deployer of contracts is at ${CREATE2_DEPLOYER}`)
      await sender.send(CREATE2_DEPLOYER, concat([salt, bytecode]))
      say(`the token ${symbol} is created`)
    }
    const see = readerOf(node)
    if ((await see(token, TOKEN_ABI, 'minter')) === ZERO) {
      const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'initialize', args: [symbol, symbol, decimals, minter] })
      await sender.send(token, data)
      say(`the token ${symbol} is set up`)
    }
    const found = await see(token, TOKEN_ABI, 'minter')
    if (found !== minter) throw new DeployError(`the token ${symbol} at ${token} is minted by somebody else, ${String(found)}`)
    const json = { chainId, symbol, decimals, token, minter }
    const entry = JSON.stringify({ symbol, tokenAddress: token, decimals, minSweepRaw: String(10n ** BigInt(decimals)) })
    return { text: `token   ${token}\nminter  ${minter}\n\nFor the chain's assets in the genesis:\n\n  ${entry}\n`, json, good: true }
  })
}

const RUN = { deploy: runDeploy, check: runCheck, token: runToken }

async function run(argv: readonly string[]): Promise<number> {
  if (saidVersion(argv)) return EXIT.DONE
  const call = readCall(argv)
  if (call === null) {
    process.stdout.write(HELP)
    return EXIT.DONE
  }
  const { text, json, good } = await RUN[call.command](call)
  process.stdout.write(call.json ? `${JSON.stringify(json)}\n` : text)
  return good ? EXIT.DONE : EXIT.FAILED
}

/** Says what went wrong; returns the exit code. */
function failed(error: Error): number {
  if (error instanceof UsageError) {
    process.stderr.write(`chain: ${error.message}\nTry: npm run chain -- --help\n`)
    return EXIT.USAGE
  }
  const known = [DeployError, ChainUnavailable, SendRefused, SignerUnavailable, SignerRefused].some((kind) => error instanceof kind)
  if (!known) throw error
  process.stderr.write(`chain: ${error.message}\n`)
  return EXIT.FAILED
}

process.exitCode = await run(process.argv.slice(2)).catch(failed)
