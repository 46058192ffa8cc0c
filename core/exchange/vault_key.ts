/**
 * Where the vault's key is: the environment, else the file or the remote signer that is configured, else, on the embedded chain,
 * `vault.key` of the data directory, which is made at the first start. It is read by the signer thread alone
 * (gateway/chain/vault/signer_thread.ts); of a key in the environment nobody can help that the main thread has it first.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, embedsChain, hasVault, VAULT_KEY_FILE, VAULT_KEY_VARIABLE, type Config } from '../config.ts'
import type { VaultKeyPlace } from '../threads.ts'

const FOR_OTHERS = 0o077

/**
 * The place; `null`: there is no vault. `environment` has the key no more afterwards, in any case. Throws {@link ConfigError} when there
 * is none, or a file that others may read.
 */
export function takeVaultKey(config: Config, environment: Record<string, string | undefined>): VaultKeyPlace | null {
  const key = environment[VAULT_KEY_VARIABLE]
  delete environment[VAULT_KEY_VARIABLE]
  if (!hasVault(config)) return null
  const { dataDir, vaultKeyFile, vaultSignerUrl } = config
  if (key !== undefined) {
    if (vaultKeyFile !== '' || vaultSignerUrl !== '') throw new ConfigError(`${VAULT_KEY_VARIABLE}: the key is configured twice`)
    if (!/^(0x)?[0-9a-fA-F]{64}$/.test(key)) throw new ConfigError(`${VAULT_KEY_VARIABLE}: must be 64 hex digits`)
    return { kind: 'given', key }
  }
  if (vaultSignerUrl !== '') return { kind: 'remote', url: vaultSignerUrl }
  if (vaultKeyFile !== '') {
    checkFile(vaultKeyFile)
    return { kind: 'file', path: vaultKeyFile, make: false }
  }
  if (!embedsChain(config)) {
    throw new ConfigError(`--vault-address needs a key: --vault-key-file, ${VAULT_KEY_VARIABLE} or --vault-signer-url`)
  }
  return { kind: 'file', path: join(dataDir, VAULT_KEY_FILE), make: true }
}

function checkFile(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined || !stat.isFile()) throw new ConfigError(`--vault-key-file: no such file: ${path}`)
  if ((stat.mode & FOR_OTHERS) !== 0) throw new ConfigError(`--vault-key-file: others may read or change ${path}; chmod 600 it`)
}
