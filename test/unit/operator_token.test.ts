/**
 * Promise: the operator's token is what the environment says, else what the named file holds, else one that is made once for the data
 * directory and read by its owner only; what is no token refuses to start and is not repeated.
 */
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { readOperatorToken } from '../../core/operator_token.ts'
import { removeDirectory } from '../support/exchange.ts'

const directory = mkdtempSync(join(tmpdir(), 'ringbook-token-'))
t.teardown(() => removeDirectory(directory))
const made = join(directory, 'operator.token')
const named = join(directory, 'named')
const variable = { RINGBOOK_OPERATOR_TOKEN: 'a-token-of-the-environment' }

t.test('made at the first start, and then kept', async (t) => {
  const { token, said } = readOperatorToken(directory, '', {})
  t.match(token, /^[0-9a-f]{64}$/)
  t.equal(readFileSync(made, 'utf8'), `${token}\n`)
  t.equal(statSync(made).mode & 0o777, 0o600)
  t.equal(readOperatorToken(directory, '', {}).token, token)
  t.ok(said.includes(made), 'people are told where it is')
  t.notOk(said.includes(token), 'and not what it is')
})

t.test('a named file is before it, the environment before both', async (t) => {
  writeFileSync(named, 'a-token-of-a-named-file\r\n')
  t.equal(readOperatorToken(directory, named, {}).token, 'a-token-of-a-named-file')
  t.equal(readOperatorToken(directory, named, variable).token, variable.RINGBOOK_OPERATOR_TOKEN)
  t.throws(() => readOperatorToken(directory, join(directory, 'missing'), {}), { code: 'ENOENT' })
})

t.test('what is no token is refused', async (t) => {
  const spaced = ['sixteen or more but with spaces', 'two-lines-of-it\ntwo-lines-of-it']
  for (const wrong of ['', 'short', 'x'.repeat(513), 'sixteen-or-more-\u00fc', ...spaced]) {
    writeFileSync(named, wrong)
    const refused = { message: `the operator's token in the file ${named} must be 16 to 512 visible ASCII characters` }
    t.throws(() => readOperatorToken(directory, named, {}), refused, JSON.stringify(wrong).slice(0, 40))
  }
  t.throws(() => readOperatorToken(directory, '', { RINGBOOK_OPERATOR_TOKEN: '' }), /environment variable RINGBOOK_OPERATOR_TOKEN/)
})
