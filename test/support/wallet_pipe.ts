/**
 * Programs of other languages whose wallet is on this side of their pipe: a line `{"sign": text}` that they print is answered with a line
 * on their input, the signature.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'

export const newWallet = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey())

export interface RunOptions {
  /** The program finds its address in the environment, as WALLET. Default: a new one. */
  readonly wallet?: PrivateKeyAccount
  readonly cwd?: string
  /** What the environment has beside what it has here. */
  readonly env?: NodeJS.ProcessEnv
  /** Takes each line, but for those that ask the wallet; `answer` writes a line to the program's input. */
  readonly onLine?: (line: string, answer: (text: string) => void) => Promise<void> | void
}

/** Runs a program to its end. `code` is 0, or what went to its standard error; `said`: its lines, but for those that ask the wallet. */
export async function runWithWallet(
  command: string, words: readonly string[], { wallet = newWallet(), cwd, env, onLine }: RunOptions = {},
): Promise<{ code: 0 | string; said: string[] }> {
  const environment = { ...process.env, WALLET: wallet.address, PYTHONDONTWRITEBYTECODE: '1', ...env }
  const child = spawn(command, words, { cwd, env: environment })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const answer = (text: string): unknown => child.stdin.write(`${text}\n`)
  const said: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('{"sign"')) answer(await wallet.signMessage({ message: (JSON.parse(line) as { sign: string }).sign }))
    else {
      said.push(line)
      await onLine?.(line, answer)
    }
  }
  const code = await ended
  return { code: code === 0 ? 0 : `${code}: ${errors}`, said }
}

/** As much of the Python package eth_account as samples use. */
const ETH_ACCOUNT = `
import json, os
class Signed:
    def __init__(self, text):
        self.signature = bytes.fromhex(text[2:])
class Account:
    address = os.environ["WALLET"]
    @classmethod
    def create(cls):
        return cls()
    def sign_message(self, message):
        print(json.dumps({"sign": message}), flush=True)
        return Signed(input())
`

/** Puts the Python package eth_account into a folder: one whose wallet is on this side of the pipe, or with another `source`. */
export function writeEthAccount(folder: string, source = ETH_ACCOUNT): void {
  const place = join(folder, 'eth_account')
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, '__init__.py'), source)
  writeFileSync(join(place, 'messages.py'), 'encode_defunct = lambda text: text\n')
}
