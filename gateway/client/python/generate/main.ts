/** `npm run python:generate` writes the generated files of the Python package, after a change of operations or channels. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDocument } from '../../../docs/rest/document.ts'
import { createStreamsDocument } from '../../../docs/streams/document.ts'
import type { AsyncApi } from './channels.ts'
import { generate } from './generate.ts'
import type { OpenApi } from './operations.ts'

const folder = join(import.meta.dirname, '..', 'src', 'ringbook', '_generated')
mkdirSync(folder, { recursive: true })
const files = generate(createDocument() as unknown as OpenApi, createStreamsDocument() as unknown as AsyncApi)
for (const [name, text] of files) writeFileSync(join(folder, name), text)
