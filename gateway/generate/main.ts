/** `npm run generate`: writes the files that are made from others (files.ts), and says which of them changed. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedFiles } from './files.ts'

const root = join(import.meta.dirname, '..', '..')
for (const [file, text] of generatedFiles()) {
  const path = join(root, file)
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
  writeFileSync(path, text)
  console.log(`wrote ${file}`)
}
