/**
 * The exchange's contracts as they are deployed: `data/contracts/artifacts/<Name>.json`, from the sources beside them. Checked in, so
 * that whoever runs the exchange needs no compiler, and can see by the hash that the code belongs to the source.
 *
 * The bytecode depends on the code alone: no hash of comments or of paths is in it.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import type { Abi, Hex } from 'viem'

const require = createRequire(import.meta.url)

export const CONTRACTS_FOLDER = 'data/contracts'
const FOLDER = join(import.meta.dirname, '..', '..', CONTRACTS_FOLDER)

/** Contracts that are deployed, and the file of each. */
const DEPLOYED = {
  Vault: 'Vault.sol', DepositFactory: 'DepositFactory.sol', DepositForwarder: 'DepositFactory.sol', TestToken: 'TestToken.sol',
} as const
export type DeployedName = keyof typeof DEPLOYED

export interface Artifact {
  readonly name: string
  /** SHA-256 of every source it is compiled from, in hex: for each, by name, a line "name length" and the text. */
  readonly sourceHash: string
  /** Version of solc, and how it was asked. */
  readonly compiler: string
  readonly abi: Abi
  /** What creates it, without arguments of a constructor. */
  readonly bytecode: Hex
  /** What stands on the chain then; places of immutable values are zero. */
  readonly deployedBytecode: Hex
}

interface Compiled {
  readonly abi: Abi
  readonly evm: { readonly bytecode: { readonly object: string }; readonly deployedBytecode: { readonly object: string } }
}
type Sources = Record<string, string>

const SETTINGS = {
  evmVersion: 'shanghai',
  optimizer: { enabled: true, runs: 200 },
  metadata: { bytecodeHash: 'none' },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
}
const ASKED = `${SETTINGS.evmVersion}, optimizer ${SETTINGS.optimizer.runs} runs, no metadata hash`

/** Version of the compiler, without the platform it runs on. Loads it: a second. */
const compilerVersion = (): string => solc().version().split('.').slice(0, 4).join('.')
const solc = (): { version(): string; compile(input: string): string } => require('solc')

/** Contracts by name. Throws what the compiler says, warnings included. */
export function compile(sources: Sources): Record<string, Compiled> {
  const content = Object.fromEntries(Object.entries(sources).map(([file, text]) => [file, { content: text }]))
  const output = JSON.parse(solc().compile(JSON.stringify({ language: 'Solidity', sources: content, settings: SETTINGS }))) as {
    errors?: { formattedMessage: string }[]
    contracts: Record<string, Record<string, Compiled>>
  }
  const said = output.errors ?? []
  if (said.length > 0) throw new Error(said.map(({ formattedMessage }) => formattedMessage).join('\n'))
  return Object.assign({}, ...Object.values(output.contracts)) as Record<string, Compiled>
}

/** A source and all it imports, by name of the file. */
export function sourcesOf(file: string, found: Sources = {}, folder = FOLDER): Sources {
  if (found[file] !== undefined) return found
  const text = readFileSync(join(folder, file), 'utf8')
  found[file] = text
  for (const [, target] of text.matchAll(/^import .*"\.\/([^"]+)";$/gm)) sourcesOf(basename(target!), found, folder)
  return found
}

function hashOf(sources: Sources): string {
  const hash = createHash('sha256')
  for (const [file, text] of Object.entries(sources).sort(([a], [b]) => (a < b ? -1 : 1))) hash.update(`${file} ${text.length}\n${text}`)
  return hash.digest('hex')
}

/** One line for each entry of the interface, so that a change of it can be read. */
function textOf({ abi, bytecode, deployedBytecode, ...head }: Artifact): string {
  const lines = [
    ...Object.entries(head).map(([key, value]) => `  "${key}": ${JSON.stringify(value)},`),
    '  "abi": [', abi.map((entry) => `    ${JSON.stringify(entry)}`).join(',\n'), '  ],',
    `  "bytecode": "${bytecode}",`, `  "deployedBytecode": "${deployedBytecode}"`,
  ]
  return `{\n${lines.join('\n')}\n}\n`
}

/** Compiles the contracts anew. */
export function artifacts(): Artifact[] {
  const files = [...new Set(Object.values(DEPLOYED))]
  const compiled = compile(files.reduce((found, file) => sourcesOf(file, found), {} as Sources))
  return Object.entries(DEPLOYED).map(([name, file]) => {
    const { abi, evm } = compiled[name]!
    return {
      name, sourceHash: hashOf(sourcesOf(file)), compiler: `solc ${compilerVersion()}, ${ASKED}`, abi,
      bytecode: `0x${evm.bytecode.object}`, deployedBytecode: `0x${evm.deployedBytecode.object}`,
    }
  })
}

/** Path of each file of an artifact, and its text. */
export const contractFiles = (): [string, string][] =>
  artifacts().map((artifact) => [`${CONTRACTS_FOLDER}/artifacts/${artifact.name}.json`, textOf(artifact)])
