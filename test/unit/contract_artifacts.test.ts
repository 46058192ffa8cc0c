/**
 * Promise: the code of the contracts that is checked in is what the compiler makes of the sources beside it, to the byte, and depends on
 * nothing else; the interfaces that the exchange uses are theirs.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { toEventHash, toFunctionSelector, type Abi, type AbiEvent, type AbiFunction } from 'viem'
import { FACTORY_ABI, TOKEN_ABI, VAULT_ABI } from '../../gateway/chain/vault/artifacts.ts'
import { artifacts, compile, contractFiles, CONTRACTS_FOLDER, sourcesOf, type Artifact } from '../../gateway/generate/contracts.ts'

t.setTimeout(180_000)

const root = join(import.meta.dirname, '..', '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const stored = (name: string): Artifact => JSON.parse(read(`${CONTRACTS_FOLDER}/artifacts/${name}.json`)) as Artifact

/** Files of each contract, as one reads them off the imports. */
const SOURCES = {
  Vault: ['Merkle.sol', 'Roles.sol', 'Tokens.sol', 'Vault.sol'], DepositFactory: ['DepositFactory.sol', 'Tokens.sol'],
  DepositForwarder: ['DepositFactory.sol', 'Tokens.sol'], TestToken: ['TestToken.sol'],
}

t.test('compiled again they are the same', async (t) => {
  const files = contractFiles()
  t.strictSame(files.map(([path]) => path.split('/').at(-1)).sort(), readdirSync(join(root, CONTRACTS_FOLDER, 'artifacts')).sort())
  for (const [path, text] of files) t.equal(read(path), text, `${path}: after a change of a contract run npm run generate`)
})

t.test('the hash is of the sources, and those alone make the code', async (t) => {
  for (const [name, files] of Object.entries(SOURCES)) {
    const hash = createHash('sha256')
    for (const file of files) {
      const text = read(`${CONTRACTS_FOLDER}/${file}`)
      hash.update(`${file} ${text.length}\n${text}`)
    }
    t.equal(stored(name).sourceHash, hash.digest('hex'), name)
    const alone = compile(sourcesOf(files.find((file) => file === `${name}.sol`) ?? 'DepositFactory.sol'))[name]!
    t.equal(`0x${alone.evm.bytecode.object}`, stored(name).bytecode, `${name} alone`)
  }
})

t.test('comments and the order of files change nothing', async (t) => {
  const changed = Object.fromEntries(Object.entries(sourcesOf('Vault.sol')).reverse().map(([file, text]) => [file, `// other\n${text}`]))
  t.equal(`0x${compile(changed)['Vault']!.evm.deployedBytecode.object}`, stored('Vault').deployedBytecode)
})

t.test('nothing of the code is left to be filled in, and all of it fits on a chain', async (t) => {
  for (const { name, bytecode, deployedBytecode } of artifacts()) {
    t.match(bytecode, /^0x[0-9a-f]+$/, `${name} has no place for a library`)
    t.match(deployedBytecode, /^0x[0-9a-f]+$/)
    t.ok(deployedBytecode.length / 2 <= 24_577, `${name} is within EIP-170`)
  }
  const carried = stored('DepositForwarder').bytecode.slice(2)
  t.ok(stored('DepositFactory').deployedBytecode.includes(carried), 'the factory carries the forwarder')
})

const signatures = (abi: Abi | readonly unknown[]): string[] => (abi as Abi).flatMap((entry) => {
  if (entry.type === 'function') return [`${entry.name} ${toFunctionSelector(entry as AbiFunction)} returns ${shapeOf(entry.outputs)}`]
  if (entry.type !== 'event') return []
  return [`${entry.name} ${toEventHash(entry as AbiEvent)} ${entry.inputs.map((input) => `${input.name} ${input.indexed === true}`)}`]
})
const shapeOf = (outputs: AbiFunction['outputs']): string[] => outputs.map(({ type }) => type)

t.test('what the exchange calls and reads is in their interfaces', async (t) => {
  for (const [name, abi] of [['Vault', VAULT_ABI], ['DepositFactory', FACTORY_ABI], ['TestToken', TOKEN_ABI]] as const) {
    const known = signatures(stored(name).abi)
    t.ok(known.length > 5)
    t.strictSame(signatures(abi).filter((signature) => !known.includes(signature)), [], name)
  }
})
