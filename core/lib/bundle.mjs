/**
 * Makes the bundle of a module and everything it imports by relative path, and writes it to standard output. A program of its own: it
 * takes half a second and much memory once, which the process that asks for the bundle (quick_bundle.mjs) then does not have.
 *
 * A bundle is quick because imports are gone. The compiler folds a constant and inlines a function of its own module; an import it reads
 * from a cell each time. So constants of numbers are written in (`inlineConst`), and top-level `const` stays `const` (`topLevelVar`): a
 * `var` might change, and is read each time too. Accessors of rows and numbers of tables are written in where they are named
 * (inline_accessors.mjs). Packages and Node's own modules stay imports.
 *
 * A second argument `thread` asks for the bundle of a thread that is not hot: its sources as they are, and with them the packages of
 * {@link WHOLE}, which are hundreds of modules to find, read and compile in each thread.
 *
 * The source map is inline, with addresses of the sources, so that stack traces name them.
 */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown, RolldownMagicString } from 'rolldown'
import { inlineAccessors } from './inline_accessors.mjs'

/** What is neither a relative nor an absolute path. */
const PACKAGES = /^(?!\.|\/|[A-Za-z]:[\\/])/

/** Packages of ES modules that look for no file beside them; what they import themselves comes with them. */
const WHOLE = ['@ethereumjs', '@noble', 'abitype', 'typebox', 'viem']

const HOT = process.argv[3] !== 'thread'

/** Whether an import stays one. */
function isExternal(id, importer = '') {
  if (HOT) return PACKAGES.test(id)
  return id.startsWith('node:') || (PACKAGES.test(id) && !importer.includes('/node_modules/') && !WHOLE.includes(id.split('/')[0]))
}

/** Modules of accessors, as regions of the chunk are named. */
const ACCESSORS = ['core/state/rows.ts', 'core/layout/record.ts']

/** What `defineLayout` makes of them is written in too. */
const layouts = async () => Object.entries({
  'core/layout/command.ts': await import('../layout/command.ts'),
  'core/layout/event.ts': await import('../layout/event.ts'),
  'core/layout/answers.ts': await import('../layout/answers.ts'),
}).flatMap(([module, names]) => Object.values(names)
  .filter((each) => typeof each?.name === 'string' && typeof each.at === 'object')
  .map(({ name, at }) => ({ name, module, at })))
const LAYOUTS = HOT ? await layouts() : []

/** Modules go on finding the files beside them. */
const places = {
  name: 'places',
  transform: {
    filter: { code: 'import.meta' },
    handler: (code, id) => {
      const at = { dirname: dirname(id), filename: id, url: pathToFileURL(id).href }
      return { code: code.replace(/\bimport\.meta\.(dirname|filename|url)\b/g, (_, name) => JSON.stringify(at[name])), map: null }
    },
  },
}

/** The accessors of rows and records are not called but written in. */
const accessors = {
  name: 'accessors',
  renderChunk(code) {
    const chunk = new RolldownMagicString(code)
    for (const { start, end, text } of inlineAccessors(code, ACCESSORS, LAYOUTS)) chunk.overwrite(start, end, text)
    return { code: chunk.toString(), map: JSON.parse(chunk.generateMap({ hires: 'boundary' }).toString()) }
  },
}

const entry = resolve(process.argv[2])
const bundle = await rolldown({
  input: entry, platform: 'node', external: isExternal, plugins: HOT ? [places, accessors] : [places], tsconfig: false,
  optimization: HOT ? { inlineConst: { mode: 'all' } } : {},
})
const { output } = await bundle.generate({ format: 'esm', sourcemap: 'hidden', codeSplitting: false, topLevelVar: false, dir: dirname(entry) })
const [{ code, map }] = output
if (output.some(({ type }) => type === 'chunk' && code !== output[0].code)) throw new Error('the bundle is in pieces')
const sources = map.sources.map((source) => pathToFileURL(resolve(dirname(entry), source)).href)
const inline = Buffer.from(JSON.stringify({ ...map, sources, sourcesContent: undefined, file: undefined })).toString('base64')
process.stdout.write(`${code}\n//# sourceMappingURL=data:application/json;base64,${inline}\n`)
