/**
 * What the box serves besides the operations: the description of its interface, the pages that show it, to which `/` leads, and the
 * files of docs/files.ts.
 *
 * Everything is constant: made once per thread when it is first asked for, then sent from the same bytes with an entity tag. The page
 * loads nothing from elsewhere, and its policy forbids it to. Answers leave in a later turn, so that a burst of pipelined requests
 * ends its connection; answered at once, 250 KB of requests made the library hold 600 MB of copies of the document. Whoever asks pays for
 * the bytes, most of which the kernel copies when nobody measures.
 */
import { createHash } from 'node:crypto'
import { FILES, type ServedFile } from '../docs/files.ts'
import { createDocument, DOCUMENT_PATH } from '../docs/rest/document.ts'
import { createStreamsDocument, STREAMS_PATH } from '../docs/streams/document.ts'
import type { Payer } from '../limits/anonymous.ts'
import { type HeaderList } from './envelope.ts'
import { Refused } from '../refused.ts'
import type { RequestContext } from './server.ts'

interface Stored {
  readonly type: string
  readonly bytes: Uint8Array
  readonly headers: HeaderList
}

/** Swagger UI needs no more than the page of our own: its styles are set from scripts, its icons are `data:` addresses. */
const POLICY = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src data:", "base-uri 'none'",
  "form-action 'none'", "frame-ancestors 'none'",
].join('; ')
/** Kept by clients, but asked about each time: a new version of the service may say something new. */
const CACHING: HeaderList = [['Cache-Control', 'public, no-cache'], ['X-Content-Type-Options', 'nosniff']]
const PAGE: HeaderList = [['Content-Security-Policy', POLICY], ['Referrer-Policy', 'no-referrer']]

const json = (create: () => object): ServedFile =>
  ({ type: 'application/json', page: false, read: () => Buffer.from(JSON.stringify(create())) })
const SOURCES: Readonly<Record<string, ServedFile>> = {
  [DOCUMENT_PATH]: json(createDocument),
  [STREAMS_PATH]: json(createStreamsDocument),
  ...FILES,
}
/** Who opens the address of the exchange in a browser means the page. */
const HOME = '/'
const TO_PAGE: HeaderList = [['Location', '/docs'], ...CACHING]
const stored = new Map<string, Stored>()

function load(path: string, { type, page, read }: ServedFile): Stored {
  const known = stored.get(path)
  if (known !== undefined) return known
  const bytes = read()
  const tag = createHash('sha256').update(bytes).digest('base64url')
  const made: Stored = { type, bytes, headers: [['ETag', `"${tag}"`], ...CACHING, ...(page ? PAGE : [])] }
  stored.set(path, made)
  return made
}

const METHODS = ['GET', 'HEAD']
/** Bytes of documents that a thread sends in a millisecond, about. */
const BYTES_PER_MS = 2 * 1024 * 1024

/** Answers when the path is one of a document; otherwise `false`, and nothing happened. */
export function serveDocument(context: RequestContext, payer: Payer): boolean {
  const { path } = context
  const source = Object.hasOwn(SOURCES, path) ? SOURCES[path] : undefined
  if (source === undefined && path !== HOME) return false
  if (!METHODS.includes(context.method)) {
    context.refuse(new Refused('METHOD_NOT_ALLOWED'), [['Allow', METHODS.join(', ')]])
    return true
  }
  if (source === undefined) {
    // With a body: without one the library names no length, and clients would wait for more.
    setImmediate(() => context.send(302, 'see /docs\n', TO_PAGE, 'text/plain'))
    return true
  }
  const { type, bytes, headers } = load(path, source)
  const unchanged = context.ifNoneMatch.includes(headers[0]![1])
  payer.charge(unchanged || context.method === 'HEAD' ? 0 : bytes.length / BYTES_PER_MS)
  setImmediate(() => (unchanged ? context.send(304, '', headers) : context.send(200, bytes, headers, type)))
  return true
}
