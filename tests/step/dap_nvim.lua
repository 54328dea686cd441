-- Drives `drywell dap` with nvim-dap, Neovim's client of the Debug Adapter Protocol, with the configuration of docs/dap.md.
--     DRYWELL=… SOURCES=… NVIM_DAP=… nvim --headless -u NONE --cmd "set rtp+=$NVIM_DAP" -c "luafile dap_nvim.lua"
local function run()
  local dap = require('dap')
  local sources = os.getenv('SOURCES')
  vim.cmd('cd ' .. sources)

  local stops, ended = 0, false
  dap.listeners.after.event_stopped['test'] = function() stops = stops + 1 end
  dap.listeners.after.event_terminated['test'] = function() ended = true end
  local function await(what, condition)
    if not vim.wait(60000, condition, 20) then error('no ' .. what) end
  end
  local function expect(what, holds)
    if not holds then error(what .. ' is wrong') end
  end
  -- Does `action` and waits until Neovim shows the stop.
  local function after_stop(action)
    local before = stops
    if dap.session() then dap.session().current_frame = nil end
    action()
    await('stop', function()
      local s = dap.session()
      return stops > before and s and s.current_frame ~= nil
    end)
    return dap.session().current_frame
  end
  local function request(command, arguments)
    local answer, problem
    dap.session():request(command, arguments, function(err, body) answer, problem = body, err end)
    await(command, function() return answer ~= nil or problem ~= nil end)
    if problem then error(command .. ': ' .. vim.inspect(problem)) end
    return answer
  end
  local function scope(frame, name)
    for _, s in ipairs(request('scopes', { frameId = frame.id }).scopes) do
      if s.name == name then return request('variables', { variablesReference = s.variablesReference }).variables end
    end
    error('no scope ' .. name)
  end

  dap.adapters.drywell = { type = 'executable', command = os.getenv('DRYWELL'), args = { 'dap' } }
  dap.configurations.cpp = {
    { type = 'drywell', request = 'launch', name = 'fused RHT', program = 'fused-rht', args = { '--m=256', '--n=256', '--verify' },
      cwd = sources, sourceRoot = sources, stopOnEntry = true },
  }

  -- A breakpoint in the kernel's C++, set as a user does: the cursor on the line.
  vim.cmd('edit kernels/fused_rht/kernel.cpp')
  vim.bo.filetype = 'cpp'
  vim.fn.search([[k_("tcgen05\.mma]])
  local line = vim.fn.line('.')
  dap.set_breakpoint()
  after_stop(function() dap.run(dap.configurations.cpp[1]) end)

  local frame = after_stop(dap.continue)
  expect('the line of the stop, ' .. frame.line .. ' and not ' .. line .. ',', frame.line == line)
  expect('the name of the frame', frame.name:find('tcgen05.mma', 1, true))
  local before = scope(frame, 'Registers')
  expect('registers', #before > 0)
  expect('tensor memory', #scope(frame, 'Tensor memory') == 1)
  expect('shared memory', #scope(frame, 'Shared memory') > 0)
  -- Forward and back: the same registers.
  local forward = after_stop(dap.step_over)
  expect('a step', forward.line ~= line or forward.id ~= frame.id)
  local back = after_stop(dap.step_back)
  expect('the line after the step back', back.line == line)
  local again = scope(back, 'Registers')
  for i, v in ipairs(before) do expect('register ' .. v.name, again[i].name == v.name and again[i].value == v.value) end

  dap.clear_breakpoints()
  dap.continue()
  await('end', function() return ended end)
end
local ok, problem = pcall(run)
io.stdout:write(ok and 'passed\n' or 'failed: ' .. tostring(problem) .. '\n')
vim.cmd(ok and 'qall!' or 'cquit!')
