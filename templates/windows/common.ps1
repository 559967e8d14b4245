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
# its stdout and the end of its stderr. -InputText is what it reads. No argument may be empty or hold a double quote:
# the versions of PowerShell disagree on both.
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
# thing is absent. Look: one command, with -ErrorAction 'Stop', because cmdlets of modules do not see a script's
# preference.
function Find-Existing {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)]$Look)
    try { & $Look }
    catch {
        # A command that Windows lacks or cannot load is ObjectNotFound too: such an Id names no cmdlet after a comma.
        if ("$($_.CategoryInfo.Category)" -ne 'ObjectNotFound' -or $_.FullyQualifiedErrorId -notlike '*,*') { throw }
    }
}

# A property of what Windows answered. Throws where it is missing or empty: as a number that would be 0, and as a text
# '', and kbuild could not tell it from an answer.
function Get-Property {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][AllowNull()][AllowEmptyString()]$Of, [Parameter(Mandatory = $true)][string]$Name)
    $value = Get-PropertyOrNull -Of $Of -Name $Name
    if ("$value" -eq '') { throw "Windows gave no $Name" }
    $value
}

# A property that may be missing; $null then.
function Get-PropertyOrNull {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][AllowNull()][AllowEmptyString()]$Of, [Parameter(Mandatory = $true)][string]$Name)
    if ($null -eq $Of -or $null -eq $Of.PSObject.Properties[$Name]) { return $null }
    $Of.PSObject.Properties[$Name].Value
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

# The text of a file. Get-Content would return a string with properties, which Windows PowerShell's JSON turns into an
# object.
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
    try { Get-Property -Of (Get-FileHash -InputStream $file -Algorithm 'SHA256') -Name 'Hash' }
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

# Removes a file, or a folder with all that is in it. A link or a mount point among it is removed as such, and what it
# shows stays. rd does so, also with links to folders and with paths beyond 260 characters, on both of which Remove-Item
# of Windows PowerShell fails. rd may fail and end with 0: only what is left tells.
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
    # cmd.exe would read them as its own.
    if ($Path -match '[%&|<>^!]') { throw "$Path is not removed: its name has characters that cmd.exe reads" }
    $said = @(Invoke-Native -Exe 'cmd.exe' -Arguments @('/d', '/c', 'rd', '/s', '/q', "\\?\$Path")) -join '; '
    if (Test-Path -LiteralPath $Path) { throw "$Path cannot be removed as a whole: does a program still use what is in it? $said" }
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
        Confirm-AdministratorOwner -Path $Path
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

# Makes a folder whose programs SYSTEM runs: only SYSTEM and the administrators may write to it, users may read. The
# owner of a folder above it could exchange it, so those must be an administrator's, too.
function Protect-ProgramFolder {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Path)
    if (-not (Test-Path -LiteralPath $Path)) { New-Item -ItemType 'Directory' -Path $Path -Force | Out-Null }
    $folder = $Path
    # C:\ itself has 3 characters.
    while ($folder.Length -gt 3) {
        Confirm-AdministratorOwner -Path $folder
        $folder = Split-Path -Path $folder -Parent
    }
    $trusted = @('S-1-5-18', 'S-1-5-32-544', 'S-1-5-32-545')
    Invoke-Native -Exe 'icacls.exe' -Arguments @($Path, '/inheritance:r', '/grant:r', '*S-1-5-18:(OI)(CI)F', '/grant:r', '*S-1-5-32-544:(OI)(CI)F', '/grant:r', '*S-1-5-32-545:(OI)(CI)RX') | Out-Null
    foreach ($account in @(Get-AllowedSids -Path $Path)) {
        if ($trusted -notcontains $account) { Invoke-Native -Exe 'icacls.exe' -Arguments @($Path, '/remove', "*$account") | Out-Null }
    }
    $left = @(Get-AllowedSids -Path $Path | Where-Object -FilterScript { $trusted -notcontains $_ })
    if ($left.Count -gt 0) { throw "$Path lets $($left -join ', ') in, and should let in only SYSTEM, the administrators, and users who read" }
    # An owner may change the rules at any time.
    Invoke-Native -Exe 'icacls.exe' -Arguments @($Path, '/setowner', '*S-1-5-32-544') | Out-Null
}

# Fails unless SYSTEM, the administrators, or the account that runs this own the folder.
function Confirm-AdministratorOwner {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Path)
    $owner = Get-OwnerSid -Path $Path
    if (@('S-1-5-18', 'S-1-5-32-544', (Get-OwnSid)) -notcontains $owner) { throw "$Path belongs to $owner, not to an administrator: find out why, and remove it" }
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
    $owner = (Get-Acl -LiteralPath $Path).GetOwner([Security.Principal.SecurityIdentifier])
    Get-Property -Of $owner -Name 'Value'
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
    Get-RegistryValue -Key 'HKLM:\SYSTEM\CurrentControlSet\Control\Session Manager\Environment' -Name $Name
}

# A value of the registry as it stands there, with its references to variables; $null when there is none.
function Get-RegistryValue {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Key, [Parameter(Mandatory = $true)][string]$Name)
    (Get-Item -LiteralPath $Key).GetValue($Name, $null, 'DoNotExpandEnvironmentNames')
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

# How long the host has been up, in milliseconds: when the clock is set, Windows shifts the time of the last boot by as
# much.
function Get-UptimeMilliseconds {
    [CmdletBinding()]
    param()
    $system = Get-CimInstance -ClassName 'Win32_OperatingSystem'
    $now = Get-Property -Of $system -Name 'LocalDateTime'
    [long]($now - (Get-Property -Of $system -Name 'LastBootUpTime')).TotalMilliseconds
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
    $started = Get-UnixMilliseconds -Time (Get-Property -Of (Get-Process -Id $Process) -Name 'StartTime')
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
    foreach ($process in @(Get-Process -Name 'powershell' | Where-Object -FilterScript { (Get-Property -Of $_ -Name 'Id') -eq $Other.process })) {
        if ((Get-UnixMilliseconds -Time $process.StartTime) -eq $Other.started) { Stop-Process -InputObject $process -Force }
    }
}

# Removes the file of a lock that was closed. Another process may have opened it since. A file that stays blocks no
# other run.
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

# State of a service: Stopped, StartPending, StopPending, Running, ContinuePending, PausePending or Paused.
function Get-ServiceState {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Name)
    "$(Get-Property -Of (Get-Service -Name $Name) -Name 'Status')"
}

# Waits while a change of a service is under way, in which it takes no order, or until it has the state Wanted. Returns
# its state.
function Wait-ServiceState {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Name, [string]$Wanted = '', [int]$Seconds = 60)
    $deadline = (Get-Date).AddSeconds($Seconds)
    $state = Get-ServiceState -Name $Name
    while ($state -ne $Wanted -and ($Wanted -ne '' -or $state -like '*Pending')) {
        if ((Get-Date) -gt $deadline) { throw "the service $Name is $state for more than $Seconds s: end its process, or restart the host" }
        Start-Sleep -Milliseconds 500
        $state = Get-ServiceState -Name $Name
    }
    $state
}

# Services that depend on one and do not stand still. Windows stops them with it, and does not start them again.
function Get-ActiveDependents {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Name)
    foreach ($one in @(Get-Service -Name $Name -DependentServices)) {
        if ("$(Get-Property -Of $one -Name 'Status')" -ne 'Stopped') { Get-Property -Of $one -Name 'Name' }
    }
}

# Stops a service, with those that depend on it. Stop-Service by itself waits without end for one that does not stop.
function Stop-ServiceInTime {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Name)
    if ((Wait-ServiceState -Name $Name) -eq 'Stopped') { return }
    Stop-Service -Name $Name -Force -NoWait -WarningAction 'SilentlyContinue'
    Wait-ServiceState -Name $Name -Wanted 'Stopped' | Out-Null
}

# Starts a service. One that is paused runs no program (nssm pauses one whose program ends at once): it is started
# again.
function Start-ServiceInTime {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Name)
    $state = Wait-ServiceState -Name $Name
    if ($state -eq 'Running') { return }
    if ($state -ne 'Stopped') { Stop-ServiceInTime -Name $Name }
    Start-Service -Name $Name -WarningAction 'SilentlyContinue'
}

# Stops and starts a service, and starts again those that were stopped with it.
function Restart-ServiceInTime {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Name)
    $stopped = @(Get-ActiveDependents -Name $Name)
    Stop-ServiceInTime -Name $Name
    foreach ($one in @(@($Name) + $stopped)) { Start-ServiceInTime -Name $one }
}

# Throws where Windows will remove a service as soon as no program has it open: until then it can be neither changed nor
# made.
function Assert-NotMarkedForDeletion {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Name)
    $key = "HKLM:\SYSTEM\CurrentControlSet\Services\$Name"
    if (-not (Test-Path -LiteralPath $key)) { return }
    if ("$(Get-RegistryValue -Key $key -Name 'DeleteFlag')" -eq '1') {
        throw "the service $Name is marked for deletion (1072): close what shows services on this host (services.msc, Task Manager, Event Viewer), or restart it; then run the same command again"
    }
}

# Networks of the Host Networking Service by name. It may give nothing, '' and objects without a name.
function Get-HnsNetworkByName {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Name)
    foreach ($network in @(Get-HnsNetwork)) {
        if ("$(Get-PropertyOrNull -Of $network -Name 'Name')" -eq $Name) { $network }
    }
}

# Pod subnet of a network of HNS; '' where it has none.
function Get-HnsSubnet {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][AllowNull()][AllowEmptyString()]$Network)
    foreach ($subnet in @(Get-PropertyOrNull -Of $Network -Name 'Subnets')) {
        $prefix = "$(Get-PropertyOrNull -Of $subnet -Name 'AddressPrefix')"
        if ($prefix -ne '') { return $prefix }
    }
    ''
}

# Puts files in their places, all of them or none: objects with from, to and aside. What stands there goes aside first,
# which Windows allows for a program that runs, and comes back where one of them cannot be placed.
function Move-FilesOver {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][AllowEmptyCollection()]$Files)
    $begun = @()
    try {
        foreach ($file in $Files) {
            foreach ($folder in @((Split-Path -Path $file.to -Parent), (Split-Path -Path $file.aside -Parent))) {
                if (-not (Test-Path -LiteralPath $folder)) { New-Item -ItemType 'Directory' -Path $folder -Force | Out-Null }
            }
            if (Test-Path -LiteralPath $file.to -PathType 'Container') { throw "$($file.to) is a folder" }
            $begun = @($file) + $begun
            if (Test-Path -LiteralPath $file.to) { Move-Item -LiteralPath $file.to -Destination $file.aside }
            Move-Item -LiteralPath $file.from -Destination $file.to
        }
    }
    catch {
        foreach ($file in $begun) { Undo-Move -File $file }
        throw
    }
}

# Brings back what Move-FilesOver put aside; one that fails keeps no other from it.
function Undo-Move {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)]$File)
    try {
        if (-not (Test-Path -LiteralPath $File.aside)) {
            # Nothing stood there: what was placed goes.
            if (-not (Test-Path -LiteralPath $File.from)) { Move-Item -LiteralPath $File.to -Destination $File.from }
            return
        }
        if (Test-Path -LiteralPath $File.to) { Move-Item -LiteralPath $File.to -Destination $File.from }
        Move-Item -LiteralPath $File.aside -Destination $File.to
    }
    catch { $null = $_ }
}
