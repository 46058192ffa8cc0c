/** What the Python package has of the operations and channels: made from the two documents, as anybody could. */
import type { AsyncApi } from '../client/python/generate/channels.ts'
import { generate } from '../client/python/generate/generate.ts'
import type { OpenApi } from '../client/python/generate/operations.ts'
import { createDocument } from '../docs/rest/document.ts'
import { createStreamsDocument } from '../docs/streams/document.ts'

/** Where they stand, below the folder of the repository. */
export const PYTHON_FOLDER = 'gateway/client/python/src/ringbook/_generated'

/** Name and text of each. */
export const pythonFiles = (): ReadonlyMap<string, string> =>
  new Map(generate(createDocument() as unknown as OpenApi, createStreamsDocument() as unknown as AsyncApi))
