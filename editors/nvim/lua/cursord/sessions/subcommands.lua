--- The subcommands of :Cursord about sessions, their turns and their settings.
local rpc = require('cursord.rpc')

--- @type table<string, cursord.Sub>
return {
  cancel = {
    bang = true,
    run = function(args)
      local some = false
      local turns = args.ws:busy()
      -- The latest turn first: the end of an earlier one would start the next.
      table.sort(turns, function(a, b)
        return a.createdAt > b.createdAt
      end)
      for _, turn in ipairs(turns) do
        if args.bang or turn.sessionId == args.ws.current or args.ws.mine[turn.id] then
          some = true
          rpc.request('turn/cancel', { turnId = turn.id })
        end
      end
      if not some then
        local others = #turns > 0 and 'of this session runs; "cancel!" ends all' or 'runs here'
        rpc.say('no turn ' .. others)
      end
    end,
  },
  resume = {
    run = function(args)
      require('cursord.picker').resume(args.ws)
    end,
  },
  sessions = {
    bang = true,
    run = function(args)
      require('cursord.picker').sessions(args.ws, args.bang)
    end,
  },
  attempts = {
    run = function(args)
      require('cursord.attempts').open(args.ws)
    end,
  },
  fork = {
    rest = true,
    complete = { 'copy', 'none' },
    run = function(args)
      local isolation = args.rest ~= '' and args.rest or nil
      if isolation and isolation ~= 'copy' and isolation ~= 'none' then
        return rpc.say(('%q is neither copy nor none'):format(isolation), vim.log.levels.ERROR)
      end
      require('cursord.rewind').here(args.ws, args.row, function(session, turn)
        require('cursord.sessions').fork(
          { session = { id = session }, root = args.ws.root, here = true, hunks = 0, text = '' },
          { turn = turn, isolation = isolation }
        )
      end)
    end,
  },
  rewind = {
    run = function(args)
      local rewind = require('cursord.rewind')
      rewind.here(args.ws, args.row, function(session, turn)
        rewind.run(args.ws, session, turn)
      end)
    end,
  },
  edit = {
    run = function(args)
      local rewind = require('cursord.rewind')
      rewind.here(args.ws, args.row, function(session)
        rewind.edit(args.ws, session)
      end)
    end,
  },
  steer = {
    rest = true,
    text = true,
    run = function(args)
      local function steer(text)
        if text and text ~= '' then
          require('cursord.rewind').steer(args.ws, text)
        end
      end
      if args.rest ~= '' then
        steer(args.rest)
      else
        vim.ui.input({ prompt = 'To the running turn: ' }, steer)
      end
    end,
  },
  search = {
    rest = true,
    text = true,
    run = function(args)
      if args.rest ~= '' then
        require('cursord.sessions.search').open(args.ws, args.rest)
      else
        require('cursord.sessions.typing').open(args.ws)
      end
    end,
  },
  model = {
    rest = true,
    complete = function()
      return require('cursord.picker').known_models()
    end,
    run = function(args)
      require('cursord.picker').model(args.ws, args.rest ~= '' and args.rest or nil)
    end,
  },
  mode = {
    rest = true,
    complete = { 'agent', 'ask', 'plan' },
    run = function(args)
      require('cursord.picker').mode(args.ws, args.rest ~= '' and args.rest or nil)
    end,
  },
  isolation = {
    rest = true,
    complete = { 'copy', 'none' },
    run = function(args)
      require('cursord.picker').isolation(args.ws, args.rest ~= '' and args.rest or nil)
    end,
  },
  sandbox = {
    rest = true,
    complete = { 'enabled', 'disabled', 'default' },
    run = function(args)
      require('cursord.picker').permit(args.ws, 'sandbox', args.rest ~= '' and args.rest or nil)
    end,
  },
  autoreview = {
    rest = true,
    complete = { 'on', 'off' },
    run = function(args)
      require('cursord.picker').permit(args.ws, 'autoReview', args.rest ~= '' and args.rest or nil)
    end,
  },
  adddir = {
    bang = true,
    rest = true,
    complete = function(lead)
      return vim.fn.getcompletion(lead, 'dir')
    end,
    run = function(args)
      require('cursord.picker').add_dir(args.ws, args.rest ~= '' and args.rest or nil, args.bang)
    end,
  },
}
