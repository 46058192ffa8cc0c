/** The compiled contracts in data/contracts/artifacts. Without viem, which gateway threads do not load. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from '../values.ts'

export type ArtifactName = 'Vault' | 'DepositFactory' | 'DepositForwarder' | 'TestToken'

export interface Artifact {
  readonly name: string
  /** SHA-256 of the sources, hex. */
  readonly sourceHash: string
  readonly abi: readonly unknown[]
  /** What creates it, without arguments. */
  readonly bytecode: Hex
  readonly deployedBytecode: Hex
}

const ARTIFACTS = join(import.meta.dirname, '..', '..', '..', 'data', 'contracts', 'artifacts')
const read = new Map<ArtifactName, Artifact>()

/** The compiled contract of this name; read once. */
export function artifact(name: ArtifactName): Artifact {
  const known = read.get(name)
  if (known !== undefined) return known
  const content = JSON.parse(readFileSync(join(ARTIFACTS, `${name}.json`), 'utf8')) as Artifact
  read.set(name, content)
  return content
}
