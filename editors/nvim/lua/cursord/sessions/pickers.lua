--- Picks a session with the installed picker. Each picker has a preview and keys to rename and delete.
local sessions = require('cursord.sessions')

local M = {}

--- @alias cursord.Pick { entries: cursord.SessionEntry[], choose: fun(entry: cursord.SessionEntry), again: fun() }

local title = 'Sessions of Cursor'

--- How long fzf-lua's preview waits for the daemon, in milliseconds.
local patience = 1000

--- @param pick cursord.Pick
local function snacks(pick)
  local items = {}
  for i, entry in ipairs(pick.entries) do
    items[i] = { text = entry.text, entry = entry, idx = i }
  end
  local function act(name)
    return function(picker, item)
      if item and item.entry.session then
        picker:close()
        sessions[name](item.entry, pick.again)
      end
    end
  end
  require('snacks').picker.pick({
    title = title,
    items = items,
    format = 'text',
    preview = function(ctx)
      ctx.preview:reset()
      sessions.preview(ctx.item.entry, function(lines)
        ctx.preview:set_lines(lines)
        ctx.preview:highlight({ ft = 'markdown' })
      end)
    end,
    confirm = function(picker, item)
      picker:close()
      if item then
        pick.choose(item.entry)
      end
    end,
    actions = { cursord_rename = act('rename'), cursord_delete = act('delete') },
    win = {
      input = {
        keys = {
          ['<C-r>'] = { 'cursord_rename', mode = { 'i', 'n' } },
          ['<C-x>'] = { 'cursord_delete', mode = { 'i', 'n' } },
        },
      },
    },
  })
end

--- @param pick cursord.Pick
local function telescope(pick)
  local actions, state = require('telescope.actions'), require('telescope.actions.state')
  local config = require('telescope.config').values
  local function selected()
    local one = state.get_selected_entry()
    return one and one.value
  end
  require('telescope.pickers')
    .new({}, {
      prompt_title = title,
      finder = require('telescope.finders').new_table({
        results = pick.entries,
        entry_maker = function(entry)
          return { value = entry, display = entry.text, ordinal = entry.text }
        end,
      }),
      sorter = config.generic_sorter({}),
      previewer = require('telescope.previewers').new_buffer_previewer({
        define_preview = function(self, one)
          local buf = self.state.bufnr
          sessions.preview(one.value, function(lines)
            if vim.api.nvim_buf_is_valid(buf) then
              vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
              vim.bo[buf].syntax = 'markdown'
            end
          end)
        end,
      }),
      attach_mappings = function(prompt, map)
        actions.select_default:replace(function()
          local entry = selected()
          actions.close(prompt)
          if entry then
            pick.choose(entry)
          end
        end)
        for key, name in pairs({ ['<C-r>'] = 'rename', ['<C-x>'] = 'delete' }) do
          map({ 'i', 'n' }, key, function()
            local entry = selected()
            if entry and entry.session then
              actions.close(prompt)
              sessions[name](entry, pick.again)
            end
          end)
        end
        return true
      end,
    })
    :find()
end

--- @param pick cursord.Pick
local function mini(pick)
  local picker = require('mini.pick')
  local function act(name)
    return function()
      local item = picker.get_picker_matches().current
      if item and item.entry.session then
        vim.schedule(function()
          sessions[name](item.entry, pick.again)
        end)
        return true -- ends the picker
      end
    end
  end
  picker.start({
    source = {
      name = title,
      items = vim.tbl_map(function(entry)
        return { text = entry.text, entry = entry }
      end, pick.entries),
      choose = function(item)
        vim.schedule(function()
          pick.choose(item.entry)
        end)
      end,
      preview = function(buf, item)
        sessions.preview(item.entry, function(lines)
          if vim.api.nvim_buf_is_valid(buf) then
            vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
            vim.bo[buf].syntax = 'markdown'
          end
        end)
      end,
    },
    mappings = {
      cursord_rename = { char = '<C-r>', func = act('rename') },
      cursord_delete = { char = '<C-x>', func = act('delete') },
    },
  })
end

--- @param pick cursord.Pick
local function fzf(pick)
  local lines = {}
  for i, entry in ipairs(pick.entries) do
    lines[i] = ('%d\t%s'):format(i, (entry.text:gsub('[\t\n]', ' ')))
  end
  local function with(act)
    return function(selected)
      local entry = selected[1] and pick.entries[tonumber(selected[1]:match('^%d+'))]
      if entry then
        act(entry)
      end
    end
  end
  local function change(name)
    return with(function(entry)
      if entry.session then
        vim.schedule(function()
          sessions[name](entry, pick.again)
        end)
      end
    end)
  end
  require('fzf-lua').fzf_exec(lines, {
    prompt = title .. '> ',
    preview = function(selected) -- fzf-lua needs the text at once
      local text = nil --- @type string?
      with(function(entry)
        sessions.preview(entry, function(found)
          text = table.concat(found, '\n')
        end)
        vim.wait(patience, function()
          return text ~= nil
        end, 5)
      end)(selected)
      return text or ''
    end,
    fzf_opts = { ['--delimiter'] = '\t', ['--with-nth'] = '2..' },
    actions = {
      ['default'] = with(pick.choose),
      ['ctrl-r'] = change('rename'),
      ['ctrl-x'] = change('delete'),
    },
  })
end

--- @type { [1]: string, [2]: fun(pick: cursord.Pick), [3]: fun(): boolean }[] name, how, and whether it is installed
local backends = {
  {
    'snacks',
    snacks,
    function()
      local has, module = pcall(require, 'snacks')
      return has and module.config ~= nil and (module.config.picker or {}).enabled == true
    end,
  },
  {
    'telescope',
    telescope,
    function()
      return vim.fn.exists(':Telescope') == 2 and (pcall(require, 'telescope'))
    end,
  },
  {
    'fzf-lua',
    fzf,
    function()
      return vim.fn.exists(':FzfLua') == 2 and (pcall(require, 'fzf-lua'))
    end,
  },
  {
    'mini.pick',
    mini,
    function()
      return _G.MiniPick ~= nil
    end,
  },
}

--- The number of entries that vim.ui.select() can show. Neovim's own waits for a key if there are more.
local function fitting()
  local source = debug.getinfo(vim.ui.select, 'S').source
  local own = source:find('vim/ui', 1, true) or source:find('_core', 1, true)
  return own and math.max(vim.o.lines - 6, 3) or math.huge
end

--- @param pick cursord.Pick
local function select(pick)
  local items, most = pick.entries, fitting()
  if #items > most then
    items = vim.list_slice(items, 1, most)
    items[#items + 1] = { text = ('All %d sessions'):format(#pick.entries - 1), list = true }
  end
  vim.ui.select(items, {
    prompt = 'Session: ',
    kind = 'cursord_session',
    format_item = function(entry)
      return entry.text
    end,
  }, function(entry)
    if entry then
      pick.choose(entry)
    end
  end)
end

--- @param pick cursord.Pick
function M.pick(pick)
  local want = require('cursord.config').get().picker
  for _, backend in ipairs(want ~= 'select' and backends or {}) do
    local name, how, installed = unpack(backend)
    if (want == name or want == 'auto') and installed() then
      return how(pick)
    end
  end
  select(pick)
end

return M
