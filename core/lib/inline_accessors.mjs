/**
 * Writes the accessors of rows and records (state/rows.ts, layout/record.ts) and the numbers of tables, layouts and constants into the
 * code that names them, in a finished chunk.
 *
 *   get(state, order, ORDER.LOTS)            (state.i32[(order & 2147483647) + 15])
 *   add(state, book, PAIR.VERSION, 1);       { const { i32: $1 } = state; const $2 = (book & 2147483647) + 3; $1[$2] = $1[$2] + 1; }
 *
 * The compiler inlines small functions too, but by a budget for each function, which the many accessors of one command use up: the
 * engine took a tenth longer. Written in, they cost no call and no budget.
 *
 * A call is written in only where that cannot change what it does: arguments have no effect, or go into constants of a block of their own
 * first, in their order; no name of the accessor is hidden where it is called; an accessor stores once at most. Any other call stays a
 * call. The numbers of a table are written in wherever `TABLE.NAME` is read, those of a layout wherever `LAYOUT.at.field` is, and a number
 * with a name of its own wherever that is plainly read; what has numbers inline_tables.mjs says.
 */
import { parseAst } from 'rolldown/parseAst'
import { constantsIn, isOffsets, REGION } from './inline_tables.mjs'
import { childrenOf, declaredInBlocks, isValue, namesOf, namesWithin, walk } from './syntax_tree.mjs'

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

/** By name: parameters, body and foreign names of each function at the top level between two places of the code. */
function accessorsOf(program, code, from, to) {
  const accessors = new Map()
  /** Functions that may store. */
  const storing = new Set()
  const take = (name, { params, body }) => {
    if (!params.every(({ type }) => type === 'Identifier')) return
    const names = params.map((param) => param.name)
    const own = new Set(names)
    const counts = new Map(names.map((param) => [param, 0]))
    const foreign = new Set()
    const isBlock = body.type === 'BlockStatement'
    // Lines are joined: none may end in a comment, nor stand in a text.
    let plain = !/\/\/|`/.test(code.slice(body.start, body.end))
    let stores = 0
    walk(body, (node) => {
      if (!PLAIN.has(node.type)) plain = false
      // An argument that reads what is stored would be read too late behind a store.
      if (node.type === 'AssignmentExpression' || (node.type === 'CallExpression' && storing.has(node.callee.name))) stores++
      if (node.type === 'VariableDeclarator') for (const declared of namesOf(node.id)) own.add(declared)
    })
    walk(body, (node, parent) => {
      if (!isValue(node, parent)) return
      if (counts.has(node.name)) counts.set(node.name, counts.get(node.name) + 1)
      if (!own.has(node.name)) foreign.add(node.name)
    })
    if (stores > (isBlock ? 1 : 0)) plain = false
    if (plain) accessors.set(name, { params: names, body, counts, foreign, locals: [...own].filter((each) => !names.includes(each)) })
  }
  for (const { type, start, end, id } of program.body) if (start >= from && end <= to && type === 'FunctionDeclaration') storing.add(id.name)
  for (const node of program.body) {
    if (node.start < from || node.end > to) continue
    if (node.type === 'FunctionDeclaration') take(node.id.name, node)
    if (node.type !== 'VariableDeclaration' || node.kind !== 'const') continue
    for (const { id, init } of node.declarations) if (init?.type === 'ArrowFunctionExpression') take(id.name, init)
  }
  return accessors
}

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
      return accessor !== null && accessor.body.type !== 'BlockStatement' && node.arguments.every((each) => this.#isPure(each))
    }
    return PURE.has(node.type) && [...childrenOf(node)].every((child) => this.#isPure(child))
  }

  #accessorOf({ callee, arguments: given }) {
    const accessor = callee.type === 'Identifier' && !this.#isHidden(callee.name) ? this.#accessors.get(callee.name) : undefined
    if (accessor === undefined || given.length !== accessor.params.length) return null
    return [...accessor.foreign].some((name) => this.#isHidden(name)) ? null : accessor
  }

  #call(node, isStatement, names) {
    const accessor = this.#accessorOf(node)
    if (accessor === null) return null
    const { params, body, counts, locals } = accessor
    const isBlock = body.type === 'BlockStatement'
    if (isBlock !== isStatement) return null
    const given = node.arguments
    const pure = given.every((each) => this.#isPure(each))
    // Lines are joined: none of them may stand in a text or end in a comment.
    if (isBlock && /\/\/|`/.test(this.#code.slice(node.start, node.end))) return null
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
      constants.push(`const ${constant} = ${text};`)
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

/** Of a module that stands in the chunk. Throws when it has none. */
function accessorsIn(program, code, module) {
  const from = code.indexOf(`${REGION}${module}\n`)
  if (from < 0) return new Map()
  const accessors = accessorsOf(program, code, from, code.indexOf('//#endregion', from))
  if (accessors.size === 0) throw new Error(`no accessor is found in ${module}`)
  return accessors
}

/**
 * Replacements for a chunk: `{ start, end, text }`, in order, none inside another. `modules`: the regions of the chunk whose functions are
 * accessors, as the bundler names them. `layouts`: what `defineLayout` makes, with the module that does. Throws when the chunk has such a region and no
 * accessor is found in it, and when two layouts have one name.
 */
export function inlineAccessors(code, modules, layouts = []) {
  if (/\$\d/.test(code.replace(/[A-Za-z_]\$\d+/g, ''))) throw new Error('names like $1 are those of inline_accessors.mjs')
  const program = parseAst(code)
  const accessors = new Map(modules.flatMap((module) => [...accessorsIn(program, code, module)]))
  const offsets = layouts.map(({ name, module, at }) => [`${module} ${name}`, new Map(Object.entries(at).map(([field, word]) => [field, String(word)]))])
  return new Rewriting(code, accessors, constantsIn(program, code, new Map(offsets)), declaredInBlocks(program)).edits(program)
}
