--- The subcommands of :Cursord.
local rpc = require('cursord.rpc')

local api = vim.api

--- @class cursord.Args
--- @field ws cursord.Workspace
--- @field rest string the arguments of the subcommand
--- @field bang boolean
--- @field range? { first: integer, last: integer } rows from 0
--- @field count integer
--- @field row integer the row of the cursor

--- @class cursord.Sub
--- @field run fun(args: cursord.Args)
--- @field complete? string[]|fun(lead: string): string[]
--- @field reviews? 'here'|'move'|'all' it acts on hunks of this buffer, goes from it to another, or acts on hunks of all buffers
--- @field bang? boolean it takes a "!"
--- @field range? boolean it takes a range, or a count
--- @field rest? boolean it takes arguments
--- @field text? boolean its arguments are text for people, in which a bar is a bar

local function selection(args)
  if args.range then
    return require('cursord.context').lines(0, args.range.first, args.range.last)
  end
end

local function file_here(args)
  local buf = api.nvim_get_current_buf()
  local other = require('cursord.review.places').others[buf]
  if other then
    return other.path(args.row)
  end
  local doc = require('cursord.docs').get(buf)
  return doc and doc.ws == args.ws and doc.rel or nil
end

--- @param verb 'accept'|'reject'
local function decide(verb)
  --- @param args cursord.Args
  return function(args)
    local decisions, here = require('cursord.review.decide'), require('cursord.review.here')
    local buf = api.nvim_get_current_buf()
    local path = file_here(args)
    if args.bang and args.rest ~= '' and args.rest ~= 'all' then
      local text = '"%s!" is about all hunks: leave out the ! or %q'
      rpc.say(text:format(verb, args.rest), vim.log.levels.ERROR)
    elseif args.bang or args.rest == 'all' then
      decisions.all(verb, args.ws)
    elseif args.rest == 'file' then
      if path then
        decisions.all(verb, args.ws, path)
      else
        rpc.say('this buffer has no file of the workspace', vim.log.levels.WARN)
      end
    elseif args.rest == 'both' and verb == 'accept' then
      here.at(verb, buf, args.range and args.range.first or args.row, nil, true)
    elseif args.rest ~= '' and args.rest ~= 'hunk' then
      local some = verb == 'accept' and 'hunk, both, file' or 'hunk, file'
      rpc.say(('%q is neither %s nor all'):format(args.rest, some), vim.log.levels.ERROR)
    elseif args.range then
      here.range(verb, buf, args.range.first, args.range.last)
    else
      here.here(verb, buf, args.row)
    end
  end
end

--- @param verb 'undo'|'redo'
local function step(verb)
  return function(args)
    require('cursord.review.decide').step(verb, args.ws)
  end
end

local function move(direction)
  return function(args)
    if args.rest ~= '' and not args.rest:find('^%d+$') then
      return rpc.say(('%q is no number of hunks'):format(args.rest), vim.log.levels.ERROR)
    end
    require('cursord.review.nav').move(args.ws, direction * args.count)
  end
end

--- The hunk at the cursor, or the first one in the range.
--- @param args cursord.Args
--- @return { id: string, hunk: cursord.Hunk }?
local function hunk_here(args)
  local buf, places = api.nvim_get_current_buf(), require('cursord.review.places')
  if args.range then
    return places.parts(buf, args.range.first, args.range.last)[1]
  end
  return places.at(buf, args.row)
end

local hunk_choices = { 'hunk', 'file', 'all' }

--- @type table<string, cursord.Sub>
local subs = {
  ask = {
    bang = true,
    range = true,
    rest = true,
    text = true,
    complete = function(lead)
      local words = lead:find('^[@/]') and require('cursord.complete').items(lead) or {}
      return vim.tbl_map(function(item)
        return item.word
      end, words)
    end,
    run = function(args)
      local chat, picked = require('cursord.chat'), selection(args)
      local function ask(prompt)
        if prompt and prompt ~= '' then
          chat.ask(args.ws, prompt, { selection = picked, new = args.bang })
        end
      end
      if args.rest ~= '' then
        ask(args.rest)
      elseif picked then
        require('cursord.inline').open(args.ws, picked, ask)
      else
        vim.ui.input({ prompt = 'Ask: ' }, ask)
      end
    end,
  },
  chat = {
    bang = true,
    range = true,
    run = function(args)
      local chat = require('cursord.chat')
      if args.bang then
        chat.switch(args.ws)
        chat.focus(args.ws, selection(args))
      else
        chat.toggle(args.ws, selection(args))
      end
    end,
  },
  review = {
    reviews = 'all',
    rest = true,
    complete = { 'file', 'all' },
    run = function(args)
      if args.rest ~= '' and args.rest ~= 'file' and args.rest ~= 'all' then
        return rpc.say(('%q is neither file nor all'):format(args.rest), vim.log.levels.ERROR)
      end
      require('cursord.review.quickfix').open(
        args.ws,
        args.rest == 'file' and file_here(args) or nil
      )
    end,
  },
  patch = {
    reviews = 'all',
    rest = true,
    complete = { 'all', 'turn' },
    run = function(args)
      local turn --- @type cursord.Turn?
      if args.rest == 'turn' then
        for _, one in pairs(args.ws.turns) do
          local latest = not turn or one.createdAt > turn.createdAt
          turn = one.sessionId == args.ws.current and latest and one or turn
        end
        if not turn then
          return rpc.say('the chat has no turn yet', vim.log.levels.WARN)
        end
      elseif args.rest ~= '' and args.rest ~= 'all' then
        return rpc.say(('%q is neither turn nor all'):format(args.rest), vim.log.levels.ERROR)
      end
      require('cursord.review.buffer').open(args.ws, turn and turn.id)
    end,
  },
  accept = {
    reviews = 'here',
    bang = true,
    range = true,
    rest = true,
    complete = { 'hunk', 'both', 'file', 'all' },
    run = decide('accept'),
  },
  reject = {
    reviews = 'here',
    bang = true,
    range = true,
    rest = true,
    complete = hunk_choices,
    run = decide('reject'),
  },
  dismiss = {
    reviews = 'here',
    rest = true,
    complete = { 'file', 'all' },
    run = function(args)
      local path = vim.fs.normalize(api.nvim_buf_get_name(0))
      if args.rest == 'all' then
        path = nil
      elseif args.rest ~= '' and args.rest ~= 'file' then
        return rpc.say(('%q is neither file nor all'):format(args.rest), vim.log.levels.ERROR)
      elseif not args.ws.diffs[path] then
        return rpc.say('this is no listed file outside of the workspace', vim.log.levels.WARN)
      end
      require('cursord.review.decide').dismiss(args.ws, path)
    end,
  },
  merge = {
    run = function()
      require('cursord.beneath').take(api.nvim_get_current_buf())
    end,
  },
  undo = { reviews = 'all', run = step('undo') },
  redo = { reviews = 'all', run = step('redo') },
  next = { reviews = 'move', range = true, rest = true, run = move(1) },
  prev = { reviews = 'move', range = true, rest = true, run = move(-1) },
  diff = {
    reviews = 'here',
    range = true,
    run = function(args)
      local path, place = file_here(args), hunk_here(args)
      if path then
        require('cursord.review.beside').open(args.ws, path, place and place.hunk)
      else
        rpc.say('this buffer has no file of the workspace', vim.log.levels.WARN)
      end
    end,
  },
  preview = {
    reviews = 'here',
    range = true,
    run = function(args)
      local place = hunk_here(args)
      if place and #place.hunk.lines > 0 then
        require('cursord.review.preview').show(place.hunk)
      else
        require('cursord.review.places').say_none(args.ws, 'here')
      end
    end,
  },
  why = {
    range = true,
    run = function(args)
      local range = args.range or { first = args.row, last = args.row }
      require('cursord.why').show(args.ws, range.first, range.last)
    end,
  },
  overlay = {
    run = function()
      local overlay = not require('cursord.config').get().review.overlay
      require('cursord.review.view').set_overlay(overlay)
    end,
  },
  comment = {
    reviews = 'here',
    range = true,
    rest = true,
    text = true,
    run = function(args)
      local place = hunk_here(args)
      if place then
        require('cursord.review.decide').comment(args.ws, place.id, args.rest)
      else
        require('cursord.review.places').say_none(args.ws, 'here')
      end
    end,
  },
  approvals = {
    run = function()
      require('cursord.approvals').open()
    end,
  },
  approve = {
    rest = true,
    text = true,
    run = function(args)
      require('cursord.approvals').approve(args.rest)
    end,
  },
  deny = {
    rest = true,
    text = true,
    run = function(args)
      require('cursord.approvals').deny(args.rest)
    end,
  },
  image = {
    bang = true,
    rest = true,
    complete = function(lead)
      return vim.fn.getcompletion(lead, 'file')
    end,
    run = function(args)
      local images = require('cursord.images')
      if args.bang then
        images.clear(args.ws)
      else
        images.add(args.ws, args.rest ~= '' and vim.fn.expand(args.rest) or nil)
      end
    end,
  },
  trust = {
    run = function(args)
      rpc.request('workspace/trust', { workspace = args.ws.root, trusted = true }, function(err)
        if err then
          rpc.say_error(err)
        else
          rpc.say('the agent may work in ' .. args.ws.root)
        end
      end)
    end,
  },
  log = {
    run = function()
      rpc.request('daemon/status', vim.empty_dict(), function(err, status)
        if err then
          return rpc.say_error(err)
        end
        vim.cmd.tabedit(
          vim.fn.fnameescape(vim.fs.joinpath(vim.fs.dirname(status.database), 'cursord.log'))
        )
        vim.bo.readonly, vim.bo.autoread = true, true
        vim.cmd('normal! G')
      end)
    end,
  },
  messages = {
    run = function()
      require('cursord.message').open()
    end,
  },
  health = {
    run = function()
      vim.cmd.checkhealth('cursord')
    end,
  },
}

return vim.tbl_extend('error', subs, require('cursord.sessions.subcommands'))
