/** `npm run chain`: what its words mean, and the help. */
import { parseArgs } from 'node:util'
import { KNOBS, VAULT_KEY_VARIABLE } from '../../core/config.ts'
import type { VaultKeyPlace } from '../../core/threads.ts'
import type { Hex } from './values.ts'

export class UsageError extends Error {
  override name = 'UsageError'
}

export const HELP = `The contracts of an exchange on an EVM chain that is not the embedded one: set them up, look at them.

  npm run chain -- deploy --rpc-url URL --key-file FILE [--operator ADDRESS]
      Creates vault and factory, tells the factory its vault, lists the tokens of the genesis, and prints what to put into
      the configuration. What is there already stays: after a failure call it again. The addresses follow from owner and
      operator alone and are the same on every chain.
  npm run chain -- check --rpc-url URL --vault ADDRESS --factory ADDRESS --operator ADDRESS
      Whether the contracts there are those that an exchange with this operator needs. Exit code 1: no, and why.
  npm run chain -- token --rpc-url URL --key-file FILE --symbol SYMBOL --decimals N [--minter ADDRESS]
      Creates a token without value, for a test network. Its address goes into the genesis. Only the minter can make some:
      name the operator, so that the faucet of the exchange works.

The key of --key-file, 64 hex digits in a file of mode 0600, or of the environment variable ${VAULT_KEY_VARIABLE}, is that
of the owner, who pays the gas and may later list tokens and change the operator. Keep it away from the exchange: it needs
the operator's only, which signs withdrawals and batches. Without --operator one key is both, which is good for tests.

  --rpc-url URL        JSON-RPC of a node of the chain
  --chain-id N         which chain of the genesis this is; default: the hub. The node must say the same.
  --genesis FILE       genesis with the list of chains and tokens; default: data/genesis/genesis.json
  --key-file FILE      the owner's key
  --operator ADDRESS   who signs withdrawals: the address of --vault-key-file or of the remote signer of the exchange
  --vault, --factory   addresses that deploy printed
  --max-fee-gwei N     most for a unit of gas; default: ${KNOBS.chainMaxFeeGwei.fallback}. While it costs more, nothing is sent
  --daily-limit N      most whole tokens of a kind that may leave the vault in a day, whoever signs; default: none
  --json               the result as JSON
  --help               this text
  --version            the version of the program

Example, on a local node (anvil --chain-id 1328) whose first account has the key in owner.key:

  npm run chain -- token --rpc-url http://127.0.0.1:8545 --key-file owner.key --symbol USDC --decimals 6
  npm run chain -- deploy --rpc-url http://127.0.0.1:8545 --key-file owner.key --genesis my-genesis.json
  npm start -- --genesis my-genesis.json --chain-rpc-url http://127.0.0.1:8545 --vault-key-file owner.key \\
      --vault-address 0x... --factory-address 0x... --price-sources sources.json
`

const OPTIONS = {
  'rpc-url': { type: 'string' }, 'chain-id': { type: 'string' }, genesis: { type: 'string' }, 'key-file': { type: 'string' },
  operator: { type: 'string' }, minter: { type: 'string' }, vault: { type: 'string' }, factory: { type: 'string' },
  symbol: { type: 'string' }, decimals: { type: 'string' }, 'max-fee-gwei': { type: 'string' }, 'daily-limit': { type: 'string' },
  json: { type: 'boolean' }, help: { type: 'boolean' },
} as const
type Option = keyof typeof OPTIONS

const ALWAYS: readonly Option[] = ['rpc-url', 'json', 'help']
/** What each command takes besides. */
const TAKES: Readonly<Record<string, readonly Option[]>> = {
  deploy: ['chain-id', 'genesis', 'key-file', 'operator', 'max-fee-gwei', 'daily-limit'],
  check: ['chain-id', 'genesis', 'vault', 'factory', 'operator'],
  token: ['chain-id', 'genesis', 'key-file', 'symbol', 'decimals', 'minter', 'max-fee-gwei'],
}

export type CommandName = 'deploy' | 'check' | 'token'

/** A call, with readers of its options. Every reader throws {@link UsageError}. */
export interface Call {
  readonly command: CommandName
  readonly json: boolean
  readonly url: string
  readonly genesis: string
  /** `null`: the hub. */
  readonly chainId: number | null
  /** `null` when it is not given. */
  address(name: 'operator' | 'minter' | 'vault' | 'factory'): Hex | null
  needed(name: 'operator' | 'vault' | 'factory'): Hex
  symbol(): string
  decimals(): number
  /** Whole tokens; `null`: no limit. */
  dailyLimit(): bigint | null
  /** Wei. */
  feePerGasMax(): bigint
  key(environment: Record<string, string | undefined>): VaultKeyPlace
}

/** `null`: help was asked for. Throws {@link UsageError}. */
export function readCall(argv: readonly string[]): Call | null {
  const { values, positionals } = parsed(argv)
  if (values.help === true || positionals[0] === 'help') return null
  const [command = '', ...more] = positionals
  if (!Object.hasOwn(TAKES, command)) throw new UsageError(`which command? There is: ${Object.keys(TAKES).join(', ')}`)
  if (more.length > 0) throw new UsageError(`what is ${more[0]}?`)
  const stray = (Object.keys(values) as Option[]).find((name) => ![...ALWAYS, ...TAKES[command]!].includes(name))
  if (stray !== undefined) throw new UsageError(`${command} takes no --${stray}`)
  const url = values['rpc-url']
  if (url === undefined || !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) throw new UsageError('--rpc-url is an http or https URL')
  const address = (name: 'operator' | 'minter' | 'vault' | 'factory'): Hex | null => {
    const given = values[name]
    if (given === undefined) return null
    if (!/^0x[0-9a-fA-F]{40}$/.test(given) || /^0x0{40}$/.test(given)) throw new UsageError(`--${name} is 0x and 40 hex digits`)
    return given.toLowerCase() as Hex
  }
  const whole = (name: 'chain-id' | 'decimals' | 'daily-limit', most: number): number | null => {
    const given = values[name]
    if (given === undefined) return null
    if (!/^\d{1,16}$/.test(given) || Number(given) > most) throw new UsageError(`--${name} is a whole number up to ${most}`)
    return Number(given)
  }
  return {
    command: command as CommandName, json: values.json === true, url, genesis: values.genesis ?? KNOBS.genesis.fallback,
    chainId: whole('chain-id', Number.MAX_SAFE_INTEGER), address,
    needed(name) {
      const found = address(name)
      if (found === null) throw new UsageError(`${command} needs --${name}`)
      return found
    },
    symbol() {
      if (!/^[A-Za-z0-9.-]{1,16}$/.test(values.symbol ?? '')) throw new UsageError('--symbol is 1 to 16 letters and digits')
      return values.symbol!
    },
    decimals: () => whole('decimals', 36) ?? missing('--decimals'),
    dailyLimit() {
      const limit = whole('daily-limit', Number.MAX_SAFE_INTEGER)
      return limit === null ? null : BigInt(limit)
    },
    feePerGasMax: () => gwei(values['max-fee-gwei']),
    key: (environment) => keyOf(values['key-file'], environment),
  }
}

function parsed(argv: readonly string[]): ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]!)
  }
}

function missing(name: string): never {
  throw new UsageError(`${name} is missing`)
}

function gwei(given: string | undefined): bigint {
  try {
    return BigInt(Math.round(KNOBS.chainMaxFeeGwei.parse(given ?? String(KNOBS.chainMaxFeeGwei.fallback)) * 1e6)) * 1_000n
  } catch (error) {
    throw new UsageError(`--max-fee-gwei ${(error as Error).message}`)
  }
}

function keyOf(file: string | undefined, environment: Record<string, string | undefined>): VaultKeyPlace {
  const key = environment[VAULT_KEY_VARIABLE]
  if (file !== undefined) return { kind: 'file', path: file, make: false }
  if (key === undefined) throw new UsageError(`whose key? Name --key-file, or set ${VAULT_KEY_VARIABLE}`)
  return { kind: 'given', key }
}
