package agent

// fionread is FIONREAD, which x/sys does not name here.
const fionread = 0x4004667f
