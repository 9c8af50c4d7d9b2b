--- The highlight groups of changed lines and of tool calls, made from those of the colour scheme so that what is on them can be
--- read.
local api = vim.api
local M = {}

--- @class cursord.Ground
--- @field from string the scheme's group
--- @field dark integer[] backgrounds of the 256 colours, the best first
--- @field light integer[]
--- @field unlike? string a group that must have another one

--- @type [string, cursord.Ground][]
local grounds = {
  { 'CursordAdd', { from = 'DiffAdd', dark = { 22, 23, 236 }, light = { 194, 193, 195 } } },
  { 'CursordDelete', { from = 'DiffDelete', dark = { 52, 53, 235 }, light = { 224, 225, 255 } } },
  {
    'CursordAddText',
    {
      from = 'DiffText',
      dark = { 28, 23, 24, 17, 238, 237, 236 },
      light = { 157, 158, 195, 194 },
      unlike = 'CursordAdd',
    },
  },
  {
    'CursordDeleteText',
    {
      from = 'DiffText',
      dark = { 88, 53, 89, 17, 238, 237, 236 },
      light = { 217, 218, 225, 224 },
      unlike = 'CursordDelete',
    },
  },
  {
    'CursordMaybe',
    { from = 'DiagnosticWarn', dark = { 58, 237, 236, 235 }, light = { 230, 229 } },
  },
}

--- Marks and titles of tool calls. They are on the ground of Normal and on that of CursordFolded.
local marks = {
  CursordChatDone = 'DiagnosticOk',
  CursordChatFailed = 'DiagnosticError',
  CursordChatTool = 'Comment',
}

local syntax = {
  'Normal',
  'Comment',
  'String',
  'Function',
  'Identifier',
  'Statement',
  'Type',
  'Constant',
  'Special',
  'PreProc',
}

--- What is on folded lines, beside the text of Normal.
local folded_inks = { 'Normal', 'Title', 'Special', 'Comment', 'DiagnosticOk', 'DiagnosticError' }

--- How far the tints are from the ground of Normal to the scheme's colour.
local tints = { 0.4, 0.3, 0.2, 0.12 }

local ours = {} --- @type table<string, table> what is defined here, by group

--- @param colour integer
--- @param shift integer
local function part(colour, shift)
  return math.floor(colour / 2 ^ shift) % 256
end

--- A colour on the way from one to the other.
local function tint(base, colour, far)
  local out = 0
  for shift = 16, 0, -8 do
    local from = part(base, shift)
    out = out * 256 + math.floor(from + (part(colour, shift) - from) * far + 0.5)
  end
  return out
end

--- One of the 256 colours from 16 on, as red, green and blue.
--- @param n integer
local function of_256(n)
  if n >= 232 then
    return (8 + (n - 232) * 10) * 0x010101
  end
  local function level(of)
    return of % 6 == 0 and 0 or 55 + 40 * (of % 6)
  end
  n = n - 16
  return level(math.floor(n / 36)) * 65536 + level(math.floor(n / 6)) * 256 + level(n)
end

--- @param colour integer
local function luminance(colour)
  local sum = 0.05
  for shift, weight in pairs({ [16] = 0.2126, [8] = 0.7152, [0] = 0.0722 }) do
    local v = part(colour, shift) / 255
    sum = sum + weight * (v <= 0.04045 and v / 12.92 or ((v + 0.055) / 1.055) ^ 2.4)
  end
  return sum
end

--- The ratio of two colours' luminance, from 1 to 21.
local function contrast(a, b)
  a, b = luminance(a), luminance(b)
  return math.max(a / b, b / a)
end

--- @class cursord.Mode how colours are named
--- @field fg string
--- @field bg string
--- @field rgb fun(colour?: integer): integer? nil for one that only the terminal knows

--- @type cursord.Mode[]
local modes = {
  {
    fg = 'fg',
    bg = 'bg',
    rgb = function(colour)
      return colour
    end,
  },
  {
    fg = 'ctermfg',
    bg = 'ctermbg',
    rgb = function(colour)
      return colour and colour >= 16 and of_256(colour) or nil
    end,
  },
}

local function get(name)
  return api.nvim_get_hl(0, { name = name, link = false })
end

--- The grounds of Normal and of folded lines, and the colour of Normal's text.
--- @param mode cursord.Mode
local function base(mode)
  local dark, normal, folded = vim.o.background == 'dark', get('Normal'), get('CursordFolded')
  local ground = mode.rgb(normal[mode.bg]) or dark and 0x000000 or 0xffffff
  local ink = mode.rgb(normal[mode.fg]) or dark and 0xffffff or 0x000000
  local of = folded.reverse and mode.fg or mode.bg
  return ground, mode.rgb(folded[of]) or ground, ink
end

--- The first candidate on which all of some groups can be read, else the best. Those that can hardly be read on the ground of
--- Normal may be as bad.
--- @param mode cursord.Mode
--- @param candidates integer[]
--- @param inks string[] the groups
--- @param needed fun(normal: number): number a contrast, by that on the ground of Normal
--- @return integer?
local function readable(mode, candidates, inks, needed)
  local ground, _, normal = base(mode)
  local best, most = nil, 0
  for _, candidate in ipairs(candidates) do
    local worst = 1
    for _, name in ipairs(inks) do
      local ink = get(name)[mode.fg]
      local colour = ink and mode.rgb(ink) or not ink and normal
      if colour then
        local need = needed(contrast(colour, ground))
        worst = math.min(worst, contrast(colour, mode.rgb(candidate) or ground) / need)
      end
    end
    if worst > most then
      best, most = candidate, worst
    end
  end
  return best
end

--- @param wanted number a contrast
local function some(wanted)
  return function(normal)
    return math.min(wanted, normal * 0.7)
  end
end

--- @param of cursord.Ground
--- @return integer?
local function gui(of)
  local like, ground = get(of.from), (base(modes[1]))
  local is_plain = like.bg and not like.reverse
  local colour = is_plain and like.bg or like.fg
  if not colour then
    return nil
  end
  local candidates = is_plain and { colour } or { tint(ground, colour, 0.25) }
  for _, far in ipairs(tints) do
    candidates[#candidates + 1] = tint(ground, colour, far)
  end
  return readable(modes[1], candidates, syntax, some(2))
end

--- @param of cursord.Ground
--- @param unlike? integer
--- @return integer?
local function cterm(of, unlike)
  local like = get(of.from)
  local own = not like.ctermfg and not (like.cterm or {}).reverse and like.ctermbg
  local candidates = own and { own } or {}
  vim.list_extend(candidates, vim.o.background == 'dark' and of.dark or of.light)
  candidates = vim.tbl_filter(function(candidate)
    return candidate ~= unlike
  end, candidates)
  return readable(modes[2], candidates, syntax, some(1.7))
end

--- Whether nobody else has defined a group.
--- @param name string
--- @param from string
local function is_ours(name, from)
  local is = api.nvim_get_hl(0, { name = name })
  return is.link == from or vim.deep_equal(is, ours[name])
end

--- @param name string
--- @param as vim.api.keyset.highlight
local function set(name, as)
  api.nvim_set_hl(0, name, as)
  ours[name] = api.nvim_get_hl(0, { name = name })
end

--- Makes the group of folded lines: Folded, or if texts cannot be read on its ground, one between that and the ground of Normal.
local function define_folded()
  local scheme, all, like = get('Folded'), {}, true
  for _, mode in ipairs(modes) do
    local bg, fg = mode.bg, mode.fg
    if scheme.reverse then
      bg, fg = fg, bg
    end
    local ground, _, normal = base(mode)
    local own = mode.rgb(scheme[bg])
    local low = contrast(mode.rgb(scheme[fg]) or normal, own or ground) < 3
    local best = scheme[bg]
    if own then
      local candidates = low and {} or { scheme[bg] }
      if mode.bg == 'bg' then
        for _, far in ipairs(tints) do
          candidates[#candidates + 1] = tint(ground, own, far)
        end
      else
        local dark = vim.o.background == 'dark'
        vim.list_extend(candidates, dark and { 237, 236, 235 } or { 253, 254, 255 })
      end
      best = readable(mode, candidates, folded_inks, function(on_normal)
        return on_normal >= 3 and 3 or on_normal * 0.9
      end)
    end
    local is_own = best == scheme[bg] and not low
    like = like and is_own
    all[mode.bg], all[mode.fg] = best, is_own and scheme[fg] or nil
  end
  set('CursordFolded', like and { link = 'Folded' } or all)
end

--- Has the marks of tool calls be read on both grounds.
--- @param name string
--- @param from string
local function define_mark(name, from)
  local like, changed = get(from), false
  for _, mode in ipairs(modes) do
    local ground, folded, normal = base(mode)
    local best, most = nil, 0
    for _, ink in ipairs({
      like[mode.fg] or false,
      get('Folded')[mode.fg] or false,
      get('Normal')[mode.fg] or false,
    }) do
      local colour = ink and mode.rgb(ink --[[@as integer]])
      if not ink or colour then
        colour = colour or normal
        local least = math.min(contrast(colour, ground), contrast(colour, folded), 3)
        if least > most then
          best, most = ink, least
        end
      end
    end
    if best ~= nil and best ~= (like[mode.fg] or false) and mode.rgb(like[mode.fg]) then
      like[mode.fg], changed = best or nil, true
    end
  end
  set(name, changed and like or { link = from })
end

--- Makes the highlight groups from those of the colour scheme. Groups that the person or the scheme defines stay.
function M.define()
  local made = {} --- @type table<string, integer?>
  for _, one in ipairs(grounds) do
    local name, of = one[1], one[2]
    if is_ours(name, of.from) then
      made[name] = cterm(of, of.unlike and made[of.unlike])
      set(name, { bg = gui(of), ctermbg = made[name] })
    end
  end
  if is_ours('CursordFolded', 'Folded') then
    define_folded()
  end
  for name, from in pairs(marks) do
    if is_ours(name, from) then
      define_mark(name, from)
    end
  end
end

api.nvim_create_autocmd({ 'ColorScheme', 'OptionSet' }, {
  group = api.nvim_create_augroup('cursord_colours', {}),
  pattern = { '*' },
  callback = function(args)
    if args.event == 'ColorScheme' or args.match == 'background' then
      M.define()
    end
  end,
})
M.define()

return M
