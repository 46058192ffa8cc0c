/**
 * Builds the package `@ringbook/client`: `npm run build:client` writes it to build/client, `-- --out DIR` elsewhere in the tree.
 *
 *   DIR/src     the sources (sources.ts); source maps lead there
 *   DIR/dist    ES modules, declarations and source maps, made by tsdown; nothing is imported from other packages
 *   DIR/package.json, README.md, LICENSES.txt (of what is bundled)
 *
 * The same tree gives the same bytes: no times, no paths of the machine. DIR is below the tree, where the bundled packages are found.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'tsdown'
import { packageSources } from './sources.ts'

const ROOT = resolve(import.meta.dirname, '..', '..', '..')
const CLIENT = join(ROOT, 'gateway', 'client')
/** Packages whose code is in dist. */
const BUNDLED = ['@noble/curves', '@noble/hashes']
const ENTRIES = { index: 'src/client/index.ts', ccxt: 'src/client/ccxt/index.ts' }

/** Compiler options of the sources, for the declarations. */
const TSCONFIG = {
  compilerOptions: {
    target: 'es2022', lib: ['es2024', 'dom'], module: 'esnext', moduleResolution: 'bundler', strict: true, noEmit: true,
    allowImportingTsExtensions: true, verbatimModuleSyntax: true, skipLibCheck: true, types: [],
  },
  include: ['src'],
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), 'utf8')

/** Writes the package to `out`, which is emptied. */
async function buildPackage(out: string): Promise<void> {
  if (relative(ROOT, out).startsWith('..')) throw new Error('the package is built inside the tree')
  rmSync(out, { recursive: true, force: true })
  for (const [file, text] of packageSources()) write(join(out, 'src', file), text)
  const { version } = JSON.parse(read('package.json')) as { version: string }
  write(join(out, 'package.json'), json({ ...(JSON.parse(read('gateway', 'client', 'package.json')) as object), version }))
  write(join(out, 'tsconfig.json'), json(TSCONFIG))
  write(join(out, 'README.md'), readFileSync(join(CLIENT, 'README.md'), 'utf8'))
  write(join(out, 'LICENSES.txt'), BUNDLED.map((name) => `${name}\n\n${read('node_modules', name, 'LICENSE')}`).join('\n\n'))
  await build({
    cwd: out, config: false, entry: ENTRIES, outDir: 'dist', format: 'esm', platform: 'neutral', target: 'es2022', sourcemap: true,
    dts: { sourcemap: true }, tsconfig: 'tsconfig.json', clean: false, logLevel: 'warn', outExtensions: () => ({ js: '.js', dts: '.d.ts' }),
    deps: { alwaysBundle: BUNDLED.map((name) => new RegExp(`^${name}/`)) },
  })
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const { values } = parseArgs({ options: { out: { type: 'string', default: join('build', 'client') } } })
const out = resolve(ROOT, values.out)
await buildPackage(out)
process.stdout.write(`${relative(process.cwd(), out)}\n`)
