/** Promise: what is generated from the declarations of operations and channels is checked in as it would be generated now. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { generatedFiles } from '../../gateway/generate/files.ts'

const root = join(import.meta.dirname, '..', '..')

for (const [file, text] of generatedFiles()) {
  t.equal(readFileSync(join(root, file), 'utf8'), text, `${file}: after a change of an operation or a channel run npm run generate`)
}
