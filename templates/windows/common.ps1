# Functions for every script of kbuild for Windows: the bootstrap defines them before the script runs.
# Each use of .NET instead of a cmdlet is a function with one purpose.

# Ends a script: one line that carries the value as JSON. A script prints exactly one.
function Write-Result {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][AllowNull()][AllowEmptyString()][AllowEmptyCollection()]$Value)
    Write-ResultLine -Json (ConvertTo-JsonText -Value $Value)
}

# JSON of a value, one line. An empty list stays a list, nothing is cut off in silence.
function ConvertTo-JsonText {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][AllowNull()][AllowEmptyString()][AllowEmptyCollection()]$Value)
    if ($null -eq $Value) { return 'null' }
    ConvertTo-Json -InputObject $Value -Compress -Depth 8 -WarningAction Stop
}

function Write-ResultLine {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Json)
    $encoded = [Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes($Json))
    [Console]::Out.Write("`nKBUILD-RESULT:$encoded`n")
    [Console]::Out.Flush()
}

# Runs a program and returns the lines of its stdout. Any status but 0 and those of -AllowExit throws, with the end of
# its stdout and the end of its stderr. -InputText is what it reads. No argument may be empty or hold a double quote: the versions of PowerShell disagree on both.
function Invoke-Native {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory = $true)][string]$Exe,
        [string[]]$Arguments = @(),
        [int[]]$AllowExit = @(),
        [string]$InputText = ''
    )
    foreach ($argument in $Arguments) {
        if ($argument -eq '' -or $argument.Contains('"')) { throw "Invoke-Native: an argument of $Exe is empty or has a double quote" }
    }
    # Windows PowerShell makes an error of every line on stderr; only the status tells.
    $ErrorActionPreference = 'Continue'
    if ($InputText -eq '') { $said = @(& $Exe @Arguments 2>&1) }
    else { $said = @($InputText | & $Exe @Arguments 2>&1) }
    $status = $global:LASTEXITCODE
    $ErrorActionPreference = 'Stop'
    $output = @($said | Where-Object -FilterScript { $_ -isnot [Management.Automation.ErrorRecord] } | ForEach-Object -Process { "$_" })
    if ($status -ne 0 -and $AllowExit -notcontains $status) {
        # Of each by itself: the two arrive in any order, and a long stdout would push the reason out. It comes last.
        $errors = @($said | Where-Object -FilterScript { $_ -is [Management.Automation.ErrorRecord] } | ForEach-Object -Process { "$_" })
        $end = @(@($output | Select-Object -Last 10) + @($errors | Select-Object -Last 10)) -join "`n"
        throw "$Exe ended with status ${status}: $end"
    }
    $output
}

# The status of the last program that Invoke-Native ran.
function Get-NativeStatus {
    [CmdletBinding()]
    param()
    $global:LASTEXITCODE
}

# What a command finds; nothing if Windows says that there is none. Any other error is thrown: it does not show that a
# thing is absent. Look: one command, with -ErrorAction 'Stop', because cmdlets of modules do not see a script's preference.
function Find-Existing {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)]$Look)
    try { & $Look }
    catch {
        # A command that Windows lacks or cannot load is ObjectNotFound too: such an Id names no cmdlet after a comma.
        if ("$($_.CategoryInfo.Category)" -ne 'ObjectNotFound' -or $_.FullyQualifiedErrorId -notlike '*,*') { throw }
    }
}

# UTF-8 without a byte order mark, which containerd and kubeadm refuse.
function Write-Utf8 {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Path, [Parameter(Mandatory = $true)][AllowEmptyString()][string]$Text)
    [IO.File]::WriteAllText($Path, $Text, (New-Object -TypeName 'Text.UTF8Encoding' -ArgumentList $false))
}

# A file to read, also one that another process has open to write. What opens a path by itself is refused that one.
function Open-SharedFile {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Path)
    [IO.File]::Open($Path, 'Open', 'Read', 'ReadWrite')
}

# The text of a file. Get-Content would return a string with properties, which Windows PowerShell's JSON turns into an object.
function Read-Utf8 {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Path)
    $file = Open-SharedFile -Path $Path
    try { (New-Object -TypeName 'IO.StreamReader' -ArgumentList $file).ReadToEnd() }
    finally { $file.Close() }
}

# The SHA-256 of a file, in capitals.
function Get-FileSha256 {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Path)
    $file = Open-SharedFile -Path $Path
    try { (Get-FileHash -InputStream $file -Algorithm 'SHA256').Hash }
    finally { $file.Close() }
}

# Text to a file, whole or not at all; its folder is made.
function Write-TextFile {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Path, [Parameter(Mandatory = $true)][AllowEmptyString()][string]$Text)
    $folder = Split-Path -Path $Path -Parent
    if (-not (Test-Path -LiteralPath $folder)) { New-Item -ItemType 'Directory' -Path $folder -Force | Out-Null }
    Write-Utf8 -Path "$Path.kbuild-new" -Text $Text
    Move-FileOver -Source "$Path.kbuild-new" -Target $Path
}

# Moves a file to a place where one may be. Move-Item would delete that one first: a moment without either.
function Move-FileOver {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Source, [Parameter(Mandatory = $true)][string]$Target)
    if (Test-Path -LiteralPath $Target -PathType 'Leaf') { [IO.File]::Replace($Source, $Target, [NullString]::Value) }
    else { Move-Item -LiteralPath $Source -Destination $Target }
}

# Removes a file, or a folder with all that is in it. A link or a mount point among it is removed as such, and what it shows
# stays: Remove-Item of Windows PowerShell may follow it into a volume.
function Remove-Tree {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Path)
    $item = Get-Item -LiteralPath $Path -Force
    if (-not $item.PSIsContainer) {
        Remove-Item -LiteralPath $Path -Force
        return
    }
    if ("$($item.Attributes)" -like '*ReparsePoint*') {
        Remove-FolderLink -Path $Path
        return
    }
    foreach ($child in @(Get-ChildItem -LiteralPath $Path -Force)) { Remove-Tree -Path $child.FullName }
    Remove-Item -LiteralPath $Path -Force
}

function Remove-FolderLink {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Path)
    [IO.Directory]::Delete($Path)
}

# A folder that only SYSTEM and the administrators can look into: SIDs, for names of groups are translated. What lies
# there is run by SYSTEM: a folder that another account has made before is refused.
function New-PrivateFolder {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Path)
    if (Test-Path -LiteralPath $Path) {
        $owner = Get-OwnerSid -Path $Path
        if (@('S-1-5-18', 'S-1-5-32-544', (Get-OwnSid)) -notcontains $owner) { throw "$Path belongs to $owner, not to an administrator: find out why, and remove it" }
    } else {
        New-Item -ItemType 'Directory' -Path $Path -Force | Out-Null
    }
    # Every time: the command may have failed for a folder that is there, and others may have been let in since.
    Invoke-Native -Exe 'icacls.exe' -Arguments @($Path, '/inheritance:r', '/grant:r', '*S-1-5-18:(OI)(CI)F', '/grant:r', '*S-1-5-32-544:(OI)(CI)F') | Out-Null
    foreach ($account in @(Get-AllowedSids -Path $Path)) {
        if (@('S-1-5-18', 'S-1-5-32-544') -notcontains $account) { Invoke-Native -Exe 'icacls.exe' -Arguments @($Path, '/remove', "*$account") | Out-Null }
    }
    $left = @(Get-AllowedSids -Path $Path | Where-Object -FilterScript { @('S-1-5-18', 'S-1-5-32-544') -notcontains $_ })
    if ($left.Count -gt 0) { throw "$Path lets $($left -join ', ') in, and should let in only SYSTEM and the administrators" }
}

# The accounts that the access rules of a folder name.
function Get-AllowedSids {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Path)
    foreach ($rule in (Get-Acl -LiteralPath $Path).GetAccessRules($true, $true, [Security.Principal.SecurityIdentifier])) { $rule.IdentityReference.Value }
}

function Get-OwnerSid {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Path)
    (Get-Acl -LiteralPath $Path).GetOwner([Security.Principal.SecurityIdentifier]).Value
}

function Get-OwnSid {
    [CmdletBinding()]
    param()
    [Security.Principal.WindowsIdentity]::GetCurrent().User.Value
}

# A variable of the machine as the registry has it, with its references to others; $null when there is none.
function Get-MachineEnvironment {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Name)
    $key = Get-Item -LiteralPath 'HKLM:\SYSTEM\CurrentControlSet\Control\Session Manager\Environment'
    $key.GetValue($Name, $null, 'DoNotExpandEnvironmentNames')
}

# Sets a variable of the machine; $null removes it. A login that exists already does not see it.
function Set-MachineEnvironment {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Name, [Parameter(Mandatory = $true)][AllowNull()][AllowEmptyString()]$Value)
    $key = 'HKLM:\SYSTEM\CurrentControlSet\Control\Session Manager\Environment'
    if ($null -eq $Value) {
        if (@((Get-Item -LiteralPath $key).Property) -contains $Name) { Remove-ItemProperty -LiteralPath $key -Name $Name }
    }
    else { Set-ItemProperty -LiteralPath $key -Name $Name -Value ([string]$Value) -Type 'ExpandString' }
}

# True when this login is a full administrator.
function Test-Administrator {
    [CmdletBinding()]
    param()
    $identity = [Security.Principal.WindowsIdentity]::GetCurrent()
    (New-Object -TypeName 'Security.Principal.WindowsPrincipal' -ArgumentList $identity).IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator)
}

# Milliseconds since 1970 by the clock of this host, in UTC.
function Get-UnixMilliseconds {
    [CmdletBinding()]
    param([datetime]$Time = (Get-Date))
    ([DateTimeOffset]$Time).ToUnixTimeMilliseconds()
}

# How long the host has been up, in milliseconds: when the clock is set, Windows shifts the time of the last boot by as much.
function Get-UptimeMilliseconds {
    [CmdletBinding()]
    param()
    $system = Get-CimInstance -ClassName 'Win32_OperatingSystem'
    [long]($system.LocalDateTime - $system.LastBootUpTime).TotalMilliseconds
}

# A script as it was sent, ready to be called. Throws where it does not parse.
function ConvertTo-ScriptBlock {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Name, [Parameter(Mandatory = $true)][string]$Text)
    $tokens = $null
    $problems = $null
    $tree = [Management.Automation.Language.Parser]::ParseInput($Text, $Name, [ref]$tokens, [ref]$problems)
    if ($problems.Count -gt 0) { throw "parse ${Name}:$($problems[0].Extent.StartLineNumber): $($problems[0].Message)" }
    $tree.GetScriptBlock()
}

# A table of parameters from the properties of an object.
function ConvertTo-Table {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)]$Object)
    $table = @{}
    foreach ($property in $Object.PSObject.Properties) { $table[$property.Name] = $property.Value }
    $table
}

# Opens a lock: a file that only its holder can write. $null when another process holds it.
function Open-LockFile {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Path)
    try { [IO.File]::Open($Path, 'OpenOrCreate', 'ReadWrite', 'Read') }
    catch {
        if ($_.Exception.GetBaseException() -isnot [IO.IOException]) { throw }
        $null
    }
}

# Notes in a lock who holds it: the process, its words, and when the process started.
function Write-LockHolder {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)]$File, [Parameter(Mandatory = $true)][int]$Process, [Parameter(Mandatory = $true)][string]$Holder)
    $started = Get-UnixMilliseconds -Time (Get-Process -Id $Process).StartTime
    $bytes = [Text.Encoding]::UTF8.GetBytes("$Process`n$Holder`n$started`n")
    $File.SetLength(0)
    $File.Write($bytes, 0, $bytes.Length)
    $File.Flush()
}

# Who holds a lock: process, words, and when the process started; 0 where the lock does not tell.
function Get-LockHolder {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Path)
    $lines = @((Read-Utf8 -Path $Path).Split("`n"))
    $holder = @{ process = 0; started = 0; holder = 'by a run that is taking it now' }
    if ($lines.Count -ge 2) { $holder['holder'] = $lines[1] }
    if ($lines.Count -ge 3 -and $lines[0] -match '^[1-9][0-9]{0,8}$' -and $lines[2] -match '^[1-9][0-9]*$') {
        $holder['process'] = [int]$lines[0]
        $holder['started'] = [long]$lines[2]
    }
    $holder
}

# Ends the process that holds a lock, and no other: Windows gives numbers of processes that ended to new ones.
function Stop-LockHolder {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)]$Other)
    if ($Other.process -le 0) { return }
    foreach ($process in @(Get-Process -Name 'powershell' | Where-Object -FilterScript { $_.Id -eq $Other.process })) {
        if ((Get-UnixMilliseconds -Time $process.StartTime) -eq $Other.started) { Stop-Process -InputObject $process -Force }
    }
}

# Removes the file of a lock that was closed. Another process may have opened it since. A file that stays blocks no other run.
function Remove-LockFile {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Path)
    try { Remove-Item -LiteralPath $Path -Force }
    catch { $null = $_ }
}

function Close-LockFile {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)]$File)
    $File.SetLength(0)
    $File.Close()
}

# True when something came in on standard input within so many seconds; false at its end too.
function Wait-Heartbeat {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][int]$Seconds)
    $buffer = New-Object -TypeName 'char[]' -ArgumentList 64
    $reading = $kb_r.ReadAsync($buffer, 0, 64)
    if (-not $reading.Wait($Seconds * 1000)) { return $false }
    $reading.Result -gt 0
}
