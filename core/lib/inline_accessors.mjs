/**
 * Writes the accessors of rows and records (state/rows.ts, layout/record.ts) and the numbers of tables, layouts and
 * constants into the code that names them, in a finished chunk.
 *
 *   get(state, order, ORDER.LOTS)            (state.i32[(order & 2147483647) + 15])
 *   add(state, book, PAIR.VERSION, 1);       { const { i32: $1 } = state; const $2 = (book & 2147483647) + 3; $1[$2] = $1[$2] + 1; }
 *
 * The compiler inlines small functions too, but by a budget for each function, which the many accessors of one command
 * use up: the engine took a tenth longer. Written in, they cost no call and no budget.
 *
 * A call is written in only where that cannot change what it does: arguments have no effect, or go into constants of a
 * block of their own first, in their order; no name of the accessor is hidden where it is called; an accessor stores
 * once at most, so that no argument is read behind a store. Whatever it calls counts as a store, except accessors that
 * are expressions and {@link READERS}. Any other call stays a call.
 *
 * The numbers of a table are written in wherever `TABLE.NAME` is read, those of a layout wherever `LAYOUT.at.field` is,
 * and a number with a name of its own wherever that is plainly read; inline_tables.mjs says which have any.
 */
import { parseAst } from 'rolldown/parseAst'
import { constantsIn, isOffsets, REGION } from './inline_tables.mjs'
import { childrenOf, declaredBelow, declaredInBlocks, isFunction, isValue, namesWithin, walk } from './syntax_tree.mjs'

const PURE = new Set(['Identifier', 'Literal', 'MemberExpression', 'BinaryExpression', 'LogicalExpression', 'ConditionalExpression',
  'UnaryExpression', 'ParenthesizedExpression'])
const SIMPLE = new Set(['Identifier', 'Literal'])
/** What may stand in a body that is written in; anything else leaves the function a call. */
const PLAIN = new Set([...PURE, 'CallExpression', 'BlockStatement', 'VariableDeclaration', 'VariableDeclarator', 'ObjectPattern', 'Property',
  'ExpressionStatement', 'AssignmentExpression'])

/** Where a name is only read, as a parent and the members of it that may be the name. */
const READS = {
  BinaryExpression: ['left', 'right'], LogicalExpression: ['left', 'right'], ConditionalExpression: ['test', 'consequent', 'alternate'],
  AssignmentExpression: ['right'], VariableDeclarator: ['init'], ReturnStatement: ['argument'], MemberExpression: ['property'],
}
const isRead = (node, parent) => isValue(node, parent) &&
  (READS[parent?.type]?.some((member) => parent[member] === node) || (parent?.type === 'CallExpression' && parent.callee !== node))

/** Lines are joined: none may end in a comment or by itself, nor stand in a text. */
const BROKEN = /\/\/|`|\\\n/

/** True when statements stand in it, whose ends may be those of their lines. */
function hasStatements(root) {
  let has = false
  walk(root, (node) => {
    has ||= isFunction(node) || node.type === 'ClassExpression'
  })
  return has
}

/** What stores nothing when it is called, beside accessors that are expressions. */
const READERS = /^(Math\.\w+|[\w$.]+\.subarray)$/

/** Adds parameters, body and foreign names of each accessor at the top level between two places; true: there is one. */
function addAccessors(accessors, program, code, from, to) {
  let found = false
  const take = (name, { params, body, async, generator }) => {
    if (async || generator || !params.every(({ type }) => type === 'Identifier')) return
    const names = params.map((param) => param.name)
    const own = new Set([...names, ...declaredBelow(body, new Set())])
    const counts = new Map(names.map((param) => [param, 0]))
    const foreign = new Set()
    const isBlock = body.type === 'BlockStatement'
    const stores = storesIn(body, code, (called) => !own.has(called) && accessors.get(called)?.isBlock === false)
    // An argument behind a store would be read too late. What a block reads behind its only one, nobody gets to see.
    if (stores > (isBlock ? 1 : 0) || !isPlainBody(body, code)) return
    walk(body, (node, parent) => {
      if (!isValue(node, parent)) return
      if (counts.has(node.name)) counts.set(node.name, counts.get(node.name) + 1)
      if (!own.has(node.name)) foreign.add(node.name)
    })
    const locals = [...own].filter((each) => !counts.has(each))
    accessors.set(name, { params: names, body, isBlock, counts, foreign, locals })
    found = true
  }
  for (const node of program.body) {
    if (node.start < from || node.end > to) continue
    if (node.type === 'FunctionDeclaration') take(node.id.name, node)
    if (node.type !== 'VariableDeclaration' || node.kind !== 'const') continue
    for (const { id, init } of node.declarations) if (init.type === 'ArrowFunctionExpression') take(id.name, init)
  }
  return found
}

/** How often a body stores, at most. `isReader`: true for names of functions that store nothing. */
function storesIn(body, code, isReader) {
  let stores = 0
  walk(body, (node) => {
    if (node.type === 'AssignmentExpression' || isDelete(node)) stores++
    if (node.type !== 'CallExpression') return
    const called = code.slice(node.callee.start, node.callee.end)
    if (node.callee.type === 'Identifier' ? !isReader(called) : !READERS.test(called)) stores++
  })
  return stores
}

/** False: the body cannot stand where the function is called. */
function isPlainBody(body, code) {
  let plain = !BROKEN.test(code.slice(body.start, body.end))
  walk(body, ({ type, left, end }) => {
    if (!PLAIN.has(type)) plain = false
    // A parameter's name becomes the caller's.
    if (type === 'AssignmentExpression' && left.type !== 'MemberExpression') plain = false
    if ((type === 'ExpressionStatement' || type === 'VariableDeclaration') && code[end - 1] !== ';') plain = false
  })
  return plain
}

const isDelete = ({ type, operator }) => type === 'UnaryExpression' && operator === 'delete'

class Rewriting {
  #code
  #accessors
  #constants
  #fresh = 0
  /** Names that the functions around the present place declare. */
  #hidden

  constructor(code, accessors, constants, hidden) {
    this.#hidden = [hidden]
    this.#code = code
    this.#accessors = accessors
    this.#constants = constants
  }

  /** What replaces nodes of `root`, outermost ones only, in the order of the code: `{ start, end, text }`. */
  edits(root, names = new Map(), above = null) {
    const edits = []
    const visit = (node, parent) => {
      const text = this.#textOf(node, parent, names)
      if (text !== null) return void edits.push({ start: node.start, end: node.end, text })
      const within = namesWithin(node)
      if (within !== null) this.#hidden.push(within)
      for (const child of childrenOf(node)) visit(child, node)
      if (within !== null) this.#hidden.pop()
    }
    visit(root, above)
    // A shorthand property is its key and its value at one place.
    return edits.filter(({ start }, index) => index === 0 || start >= edits[index - 1].end)
  }

  #render(node, names, above = null) {
    let text = ''
    let at = node.start
    for (const edit of this.edits(node, names, above)) {
      text += this.#code.slice(at, edit.start) + edit.text
      at = edit.end
    }
    return text + this.#code.slice(at, node.end)
  }

  #isHidden(name) {
    return this.#hidden.some((names) => names.has(name))
  }

  /** What stands instead of a node; null: itself. */
  #textOf(node, parent, names) {
    if (node.type === 'Property' && node.shorthand && names.has(node.value.name)) return `${node.key.name}: ${names.get(node.value.name)}`
    if (isValue(node, parent) && names.has(node.name)) return names.get(node.name)
    const number = this.#numberOf(node, parent)
    if (number !== null) return parent?.type === 'MemberExpression' && parent.object === node ? `(${number})` : number
    if (node.type === 'ExpressionStatement' && node.expression.type === 'CallExpression') return this.#call(node.expression, true, names)
    return node.type === 'CallExpression' ? this.#call(node, false, names) : null
  }

  /** The number that a constant's name, a table's or a layout's member stands for; null: none. */
  #numberOf(node, parent) {
    const { tables, numbers, defined } = this.#constants
    if (node.type === 'Identifier') return isRead(node, parent) && !this.#isHidden(node.name) ? (numbers.get(node.name) ?? null) : null
    if (node.type !== 'MemberExpression' || node.computed) return null
    const { object, property } = node
    const name = isOffsets(object) ? object.object.name : object.type === 'Identifier' ? object.name : null
    if (name === null || this.#isHidden(name)) return null
    return (isOffsets(object) ? defined : tables).get(name)?.get(property.name) ?? null
  }

  /** Without effect, whenever it is looked at. */
  #isPure(node) {
    if (node.type === 'CallExpression') {
      const accessor = this.#accessorOf(node)
      return accessor !== null && !accessor.isBlock && node.arguments.every((each) => this.#isPure(each))
    }
    return PURE.has(node.type) && !isDelete(node) && [...childrenOf(node)].every((child) => this.#isPure(child))
  }

  #accessorOf({ callee, arguments: given }) {
    const accessor = callee.type === 'Identifier' && !this.#isHidden(callee.name) ? this.#accessors.get(callee.name) : undefined
    if (accessor === undefined || given.length !== accessor.params.length) return null
    if (given.some(({ type }) => type === 'SpreadElement')) return null
    return [...accessor.foreign].some((name) => this.#isHidden(name)) ? null : accessor
  }

  #call(node, isStatement, names) {
    const accessor = this.#accessorOf(node)
    if (accessor === null) return null
    const { params, body, isBlock, counts, locals } = accessor
    if (isBlock !== isStatement) return null
    const given = node.arguments
    const pure = given.every((each) => this.#isPure(each))
    if (isBlock && (BROKEN.test(this.#code.slice(node.start, node.end)) || given.some(hasStatements))) return null
    // An expression has no place for constants.
    if (!isBlock && (!pure || given.some((each, index) => !SIMPLE.has(each.type) && counts.get(params[index]) > 1))) return null
    const own = new Map(locals.map((local) => [local, this.#name()]))
    const constants = []
    given.forEach((each, index) => {
      const text = this.#render(each, names, node)
      const isSimple = each.type === 'Literal' || (each.type === 'Identifier' && pure)
      if (isSimple || (pure && counts.get(params[index]) === 1)) {
        own.set(params[index], isSimple ? text : `(${text})`)
        return
      }
      const constant = this.#name()
      // Brackets are no node.
      constants.push(`const ${constant} = ${each.type === 'SequenceExpression' ? `(${text})` : text};`)
      own.set(params[index], constant)
    })
    const written = this.#outside(new Set(own.keys()), () => this.#render(body, own))
    return isBlock ? [`{`, ...constants, written.slice(1)].join(' ').replace(/\s*\n\s*/g, ' ') : `(${written})`
  }

  /** An accessor's body sees its `own` names, and none of the place where it is written in: what it names was looked at before. */
  #outside(own, render) {
    const hidden = this.#hidden
    this.#hidden = [own]
    try {
      return render()
    } finally {
      this.#hidden = hidden
    }
  }

  #name() {
    return `$${++this.#fresh}`
  }
}

/** Adds those of a module that stands in the chunk. Throws when it has none. */
function addAccessorsOf(module, accessors, program, code) {
  const from = code.indexOf(`${REGION}${module}\n`)
  if (from < 0) return
  if (addAccessors(accessors, program, code, from, code.indexOf('//#endregion', from))) return
  throw new Error(`no accessor is found in ${module}`)
}

/**
 * Replacements for a chunk: `{ start, end, text }`, in order, none inside another. `modules`: the regions of the chunk whose functions are
 * accessors, as the bundler names them. `layouts`: what `defineLayout` makes, with the module that does. Throws when the chunk has such a region and no
 * accessor is found in it, and when two layouts have one name.
 */
export function inlineAccessors(code, modules, layouts = []) {
  if (/\$\d/.test(code.replace(/\w\$\d+/g, ''))) throw new Error('names like $1 are those of inline_accessors.mjs')
  const program = parseAst(code)
  const accessors = new Map()
  for (const module of modules) addAccessorsOf(module, accessors, program, code)
  const offsets = layouts.map(({ name, module, at }) => [`${module} ${name}`, new Map(Object.entries(at).map(([field, word]) => [field, String(word)]))])
  return new Rewriting(code, accessors, constantsIn(program, code, new Map(offsets)), declaredInBlocks(program)).edits(program)
}
