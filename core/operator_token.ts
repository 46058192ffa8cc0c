/**
 * The operator's token: what a request to the operator port must carry to change something or to see users. From the environment, else
 * from the file that is configured, else from `operator.token` of the data directory, which is made at the first start (data_dir.ts).
 *
 * It is no knob: knobs are logged, and a command line can be read by every process of the machine.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, OPERATOR_TOKEN_FILE, OPERATOR_TOKEN_VARIABLE } from './config.ts'
import { readOrMakeSecret } from './data_dir.ts'

const BYTES = 32
/** What a token may be: it stands in a header. */
const FORM = /^[\x21-\x7e]{16,512}$/

/** `said`: where it comes from, for people, without the token itself. */
export interface OperatorToken {
  readonly token: string
  readonly said: string
}

/** Throws {@link ConfigError} when what is there is no token: 16 to 512 visible ASCII characters. */
export function readOperatorToken(
  dataDir: string, file: string, environment: Readonly<Record<string, string | undefined>>,
): OperatorToken {
  const given = environment[OPERATOR_TOKEN_VARIABLE]
  if (given !== undefined) return checked(given, `the environment variable ${OPERATOR_TOKEN_VARIABLE} of the exchange`)
  if (file !== '') return checked(readFileSync(file, 'utf8').trim(), `the file ${file}`)
  const made = readOrMakeSecret(dataDir, OPERATOR_TOKEN_FILE, () => Buffer.from(`${randomBytes(BYTES).toString('hex')}\n`))
  return checked(made.toString('utf8').trim(), `the file ${join(dataDir, OPERATOR_TOKEN_FILE)}`)
}

function checked(token: string, said: string): OperatorToken {
  if (!FORM.test(token)) throw new ConfigError(`the operator's token in ${said} must be 16 to 512 visible ASCII characters`)
  return { token, said }
}
