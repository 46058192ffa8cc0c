/**
 * What is served as it lies on disk or is put together once: the page under `/docs`, the kept files it loads and the `.proto` files.
 *
 * The page for REST is Swagger UI, from node_modules. Of that package two files are served, of noble the modules that a wallet's signature
 * needs; nothing is read before somebody asks for it. A path that is not in {@link FILES} is no file: nothing of the disk can be asked for.
 */
import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { guideText } from './guide.ts'
import { zip } from './zip.ts'

export interface ServedFile {
  readonly type: string
  /** Whether it is a page, which gets a policy of what it may load. */
  readonly page: boolean
  read(): Uint8Array
}

const HTML = 'text/html; charset=utf-8'
const CSS = 'text/css; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'
const TEXT = 'text/plain; charset=utf-8'

/** Folder of the .proto files. */
const PROTO_ROOT = join(import.meta.dirname, '..', '..', 'proto')
const folder = join(import.meta.dirname, 'page')
const packageOf = (name: string): string => dirname(createRequire(import.meta.url).resolve(name))
const own = (name: string, type: string): ServedFile => ({ type, page: type === HTML, read: () => readFileSync(join(folder, name)) })
const swagger = (name: string, type: string): ServedFile =>
  ({ type, page: false, read: () => readFileSync(join(packageOf('swagger-ui-dist/package.json'), name)) })

const CURVES = '/docs/kept/curves/'
const HASHES = '/docs/kept/hashes/'
/** What `secp256k1.js` and `sha3.js` load, directly or not. */
const NOBLE_CURVES = [
  'secp256k1.js', 'utils.js', 'abstract/curve.js', 'abstract/der.js', 'abstract/fft.js', 'abstract/frost.js', 'abstract/hash-to-curve.js',
  'abstract/modular.js', 'abstract/weierstrass.js',
]
const NOBLE_HASHES = ['_md.js', '_u64.js', 'hmac.js', 'sha2.js', 'sha3.js', 'utils.js']

/** A module of noble. Browsers know no package names, so imports of its other package get the path they are served under. */
function noble(entry: string, name: string): ServedFile {
  const read = (): Uint8Array => {
    const text = readFileSync(join(packageOf(entry), name), 'utf8')
    return Buffer.from(text.replaceAll(/^(.*from )'@noble\/hashes\//gm, `$1'${HASHES}`))
  }
  return { type: SCRIPT, page: false, read }
}

/** Paths of the .proto files below proto/, with forward slashes. */
export const protoPaths = (): string[] => globSync('**/*.proto', { cwd: PROTO_ROOT }).map((path) => path.replaceAll('\\', '/')).sort()

const protoFile = (path: string): [string, ServedFile] =>
  [`/docs/proto/${path}`, { type: TEXT, page: false, read: () => readFileSync(join(PROTO_ROOT, path)) }]
const protoZip = (): Uint8Array => zip(protoPaths().map((path) => [path, readFileSync(join(PROTO_ROOT, path))]))

export const FILES: Readonly<Record<string, ServedFile>> = {
  '/docs': own('rest.html', HTML),
  '/docs/rest.js': own('rest.js', SCRIPT),
  '/docs/signing.js': own('signing.js', SCRIPT),
  '/docs/wallet.js': own('wallet.js', SCRIPT),
  '/docs/rest.css': own('rest.css', CSS),
  '/docs/guide': own('guide.html', HTML),
  '/docs/page.js': own('page.js', SCRIPT),
  '/docs/page.css': own('page.css', CSS),
  '/docs/kept/swagger-ui.css': swagger('swagger-ui.css', CSS),
  '/docs/kept/swagger-ui-bundle.js': swagger('swagger-ui-bundle.js', SCRIPT),
  '/docs/kept/swagger-ui-bundle.js.LICENSE.txt': swagger('swagger-ui-bundle.js.LICENSE.txt', TEXT),
  ...Object.fromEntries(NOBLE_CURVES.map((name) => [CURVES + name, noble('@noble/curves/secp256k1.js', name)])),
  ...Object.fromEntries(NOBLE_HASHES.map((name) => [HASHES + name, noble('@noble/hashes/sha3.js', name)])),
  ...Object.fromEntries(protoPaths().map(protoFile)),
  '/llms.txt': { type: TEXT, page: false, read: () => Buffer.from(guideText('llms.md')) },
  '/docs/proto.zip': { type: 'application/zip', page: false, read: protoZip },
}
